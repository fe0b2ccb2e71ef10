const _: () = {
    extern crate shmem;
    trait __Types {
        type __Field0;
        type __Field1;
        type __Field2;
    }
    #[automatically_derived]
    impl __Types for Queue {
        type __Field0 = Atomic<u64>;
        type __Field1 = Signal;
        type __Field2 = [u64; 8];
    }
    <Queue as shmem::__private::DerivedWords>::LAYOUT
        .less::<<Queue as __Types>::__Field0>()
        .less::<<Queue as __Types>::__Field1>()
        .less::<<Queue as __Types>::__Field2>()
        .require_no_padding("Queue");
    #[automatically_derived]
    unsafe impl shmem::__private::DerivedWords for Queue {
        const MOVED_BY_NOTHING: () = ();
        fn seen(self) {
            let () = <<Queue as __Types>::__Field0 as shmem::__private::WordFieldOf<
                Queue,
            >>::CHECKED;
            <Queue as shmem::__private::DerivedWords>::holds::<
                <Queue as __Types>::__Field0,
            >();
            let () = <<Queue as __Types>::__Field1 as shmem::__private::WordFieldOf<
                Queue,
            >>::CHECKED;
            <Queue as shmem::__private::DerivedWords>::holds::<
                <Queue as __Types>::__Field1,
            >();
            let () = <<Queue as __Types>::__Field2 as shmem::__private::WordFieldOf<
                Queue,
            >>::CHECKED;
            <Queue as shmem::__private::DerivedWords>::holds::<
                <Queue as __Types>::__Field2,
            >();
            let Self { head: __field0, ready: __field1, items: __field2 } = self;
            let __found = <Self as shmem::__private::DerivedWords>::type_of(&__field0);
            __found.require_seen::<<Queue as __Types>::__Field0>();
            let __found = <Self as shmem::__private::DerivedWords>::type_of(&__field1);
            __found.require_seen::<<Queue as __Types>::__Field1>();
            let __found = <Self as shmem::__private::DerivedWords>::type_of(&__field2);
            __found.require_seen::<<Queue as __Types>::__Field2>();
        }
    }
    shmem::__private::words_data! {
        Queue
    }
};
