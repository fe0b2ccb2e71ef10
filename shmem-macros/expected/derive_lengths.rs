const _: () = {
    extern crate shmem;
    trait __Types {
        type __Field0;
        type __Field1;
    }
    #[automatically_derived]
    impl<const N: usize> __Types for Line<N> {
        type __Field0 = u64;
        type __Field1 = [f64; N];
    }
    trait __ElementTypes {
        type __Field0;
        type __Field1;
    }
    enum __Elements {}
    #[automatically_derived]
    impl __ElementTypes for __Elements {
        type __Field0 = u64;
        type __Field1 = f64;
    }
    #[automatically_derived]
    unsafe impl shmem::__private::AlignedAlike for __Elements {
        const ALIGNMENT_IS_COMPARED_BESIDE: () = ();
    }
    <__Elements as shmem::__private::AlignedAlike>::ALIGNMENTS
        .and::<<__Elements as __ElementTypes>::__Field0>()
        .and::<<__Elements as __ElementTypes>::__Field1>()
        .require_one("Line");
    #[allow(unused_imports)]
    use shmem::__private::Undivided as _;
    #[automatically_derived]
    unsafe impl<const N: usize> shmem::__private::Derived for Line<N> {
        type Names = __NamesOfLine<N>;
        const FIELDS: &'static [shmem::__private::Field] = &[
            shmem::__private::Field::new(
                "0",
                shmem::__private::core::mem::offset_of!(Self, 0),
                <shmem::__private::Fields<<Line<N> as __Types>::__Field0>>::CONTENTS,
            ),
            shmem::__private::Field::new(
                "1",
                shmem::__private::core::mem::offset_of!(Self, 1),
                <shmem::__private::Fields<<Line<N> as __Types>::__Field1>>::CONTENTS,
            ),
        ];
        #[allow(clippy::multiple_bound_locations)]
        fn seen(self) {
            let () = <<Line<
                N,
            > as __Types>::__Field0 as shmem::__private::FieldOf<Line<N>>>::CHECKED;
            <Line<
                N,
            > as shmem::__private::Derived>::holds::<<Line<N> as __Types>::__Field0>();
            let () = <<Line<
                N,
            > as __Types>::__Field1 as shmem::__private::FieldOf<Line<N>>>::CHECKED;
            <Line<
                N,
            > as shmem::__private::Derived>::holds::<<Line<N> as __Types>::__Field1>();
            let Self { 0: __field0, 1: __field1 } = self;
            let __found = <Self as shmem::__private::Derived>::type_of(&__field0);
            __found.require_seen::<<Line<N> as __Types>::__Field0>();
            let __found = <Self as shmem::__private::Derived>::type_of(&__field1);
            __found.require_seen::<<Line<N> as __Types>::__Field1>();
            <Self as shmem::__private::Derived>::is_made_of::<__Elements>();
            let __element = <Self as shmem::__private::Derived>::type_of(&__field0);
            __element.require_seen::<<__Elements as __ElementTypes>::__Field0>();
            let __element = <Self as shmem::__private::Derived>::item_of(
                <Self as shmem::__private::Derived>::type_of(&__field1),
            );
            __element.require_seen::<<__Elements as __ElementTypes>::__Field1>();
        }
    }
    #[allow(
        dead_code,
        unreachable_pub,
        private_interfaces,
        private_bounds,
        non_camel_case_types,
        clippy::multiple_bound_locations
    )]
    pub struct __NamesOfLine<const N: usize>(
        <Line<N> as __Types>::__Field0,
        <Line<N> as __Types>::__Field1,
    );
    #[automatically_derived]
    impl<const N: usize> shmem::__private::core::ops::Deref for __NamesOfLine<N> {
        type Target = ();
        fn deref(&self) -> &() {
            &()
        }
    }
    shmem::__private::plain_data! {
        Line < N >, [], [(N : usize)], [], []
    }
};
