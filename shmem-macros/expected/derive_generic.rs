const _: () = {
    extern crate shmem;
    trait __Types {
        type __Field0;
        type __Field1;
        type __Element;
    }
    #[automatically_derived]
    impl<T: Copy, const N: usize> __Types for Row<T, N>
    where
        T: Default,
        T: shmem::__private::PlainData,
    {
        type __Field0 = T;
        type __Field1 = [T; N];
        type __Element = T;
    }
    #[automatically_derived]
    unsafe impl<T: Copy, const N: usize> shmem::__private::Derived for Row<T, N>
    where
        T: Default,
        T: shmem::__private::PlainData,
    {
        type Names = __NamesOfRow<T, N>;
        const FIELDS: &'static [shmem::__private::Field] = &[
            shmem::__private::Field::new(
                "head",
                shmem::__private::core::mem::offset_of!(Self, head),
                <shmem::__private::Fields<<Row<T, N> as __Types>::__Field0>>::CONTENTS,
            ),
            shmem::__private::Field::new(
                "rest",
                shmem::__private::core::mem::offset_of!(Self, rest),
                <shmem::__private::Fields<<Row<T, N> as __Types>::__Field1>>::CONTENTS,
            ),
        ];
        #[allow(clippy::multiple_bound_locations)]
        fn seen(self) {
            let () = <<Row<
                T,
                N,
            > as __Types>::__Field0 as shmem::__private::FieldOf<Row<T, N>>>::CHECKED;
            <Row<
                T,
                N,
            > as shmem::__private::Derived>::holds::<<Row<T, N> as __Types>::__Field0>();
            let () = <<Row<
                T,
                N,
            > as __Types>::__Field1 as shmem::__private::FieldOf<Row<T, N>>>::CHECKED;
            <Row<
                T,
                N,
            > as shmem::__private::Derived>::holds::<<Row<T, N> as __Types>::__Field1>();
            let Self { head: __field0, rest: __field1 } = self;
            let __found = <Self as shmem::__private::Derived>::type_of(&__field0);
            __found.require_seen::<<Row<T, N> as __Types>::__Field0>();
            let __found = <Self as shmem::__private::Derived>::type_of(&__field1);
            __found.require_seen::<<Row<T, N> as __Types>::__Field1>();
            let __element = <Self as shmem::__private::Derived>::type_of(&__field0);
            __element.require_alike::<<Row<T, N> as __Types>::__Element>();
            let __element = <Self as shmem::__private::Derived>::item_of(
                <Self as shmem::__private::Derived>::type_of(&__field1),
            );
            __element.require_alike::<<Row<T, N> as __Types>::__Element>();
        }
    }
    #[allow(unused_imports)]
    use shmem::__private::Undivided as _;
    #[allow(
        dead_code,
        unreachable_pub,
        private_interfaces,
        private_bounds,
        non_camel_case_types,
        clippy::multiple_bound_locations
    )]
    pub struct __NamesOfRow<T: Copy, const N: usize>
    where
        T: Default,
        T: shmem::__private::PlainData,
    {
        head: <Row<T, N> as __Types>::__Field0,
        rest: <Row<T, N> as __Types>::__Field1,
    }
    #[automatically_derived]
    impl<T: Copy, const N: usize> shmem::__private::core::ops::Deref
    for __NamesOfRow<T, N>
    where
        T: Default,
        T: shmem::__private::PlainData,
    {
        type Target = ();
        fn deref(&self) -> &() {
            &()
        }
    }
    shmem::__private::plain_data! {
        Row < T, N >, [T], [(N : usize)], [(for < > T : Copy) (for < > T : Default) (for
        < > T : shmem::__private::PlainData)], []
    }
};
