const _: () = {
    extern crate shmem;
    trait __Types {
        type __Field0;
        type __Field1;
        type __Field2;
    }
    #[automatically_derived]
    impl __Types for Particle {
        type __Field0 = [f64; 3];
        type __Field1 = f32;
        type __Field2 = [u8; 4];
    }
    <Particle as shmem::__private::Derived>::LAYOUT
        .less::<<Particle as __Types>::__Field0>()
        .less::<<Particle as __Types>::__Field1>()
        .less::<<Particle as __Types>::__Field2>()
        .require_no_padding("Particle");
    #[allow(unused_imports)]
    use shmem::__private::Undivided as _;
    #[automatically_derived]
    unsafe impl shmem::__private::Derived for Particle {
        type Names = __NamesOfParticle;
        const FIELDS: &'static [shmem::__private::Field] = &[
            shmem::__private::Field::new(
                "position",
                shmem::__private::core::mem::offset_of!(Self, position),
                <shmem::__private::Fields<<Particle as __Types>::__Field0>>::CONTENTS,
            ),
            shmem::__private::Field::new(
                "charge",
                shmem::__private::core::mem::offset_of!(Self, charge),
                <shmem::__private::Fields<<Particle as __Types>::__Field1>>::CONTENTS,
            ),
            shmem::__private::Field::new(
                "pad",
                shmem::__private::core::mem::offset_of!(Self, pad),
                <shmem::__private::Fields<<Particle as __Types>::__Field2>>::CONTENTS,
            ),
        ];
        #[allow(clippy::multiple_bound_locations)]
        fn seen(self) {
            let () = <<Particle as __Types>::__Field0 as shmem::__private::FieldOf<
                Particle,
            >>::CHECKED;
            <Particle as shmem::__private::Derived>::holds::<
                <Particle as __Types>::__Field0,
            >();
            let () = <<Particle as __Types>::__Field1 as shmem::__private::FieldOf<
                Particle,
            >>::CHECKED;
            <Particle as shmem::__private::Derived>::holds::<
                <Particle as __Types>::__Field1,
            >();
            let () = <<Particle as __Types>::__Field2 as shmem::__private::FieldOf<
                Particle,
            >>::CHECKED;
            <Particle as shmem::__private::Derived>::holds::<
                <Particle as __Types>::__Field2,
            >();
            let Self { position: __field0, charge: __field1, pad: __field2 } = self;
            let __found = <Self as shmem::__private::Derived>::type_of(&__field0);
            __found.require_seen::<<Particle as __Types>::__Field0>();
            let __found = <Self as shmem::__private::Derived>::type_of(&__field1);
            __found.require_seen::<<Particle as __Types>::__Field1>();
            let __found = <Self as shmem::__private::Derived>::type_of(&__field2);
            __found.require_seen::<<Particle as __Types>::__Field2>();
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
    pub struct __NamesOfParticle {
        pub position: <Particle as __Types>::__Field0,
        pub charge: <Particle as __Types>::__Field1,
        pub pad: <Particle as __Types>::__Field2,
    }
    #[automatically_derived]
    impl shmem::__private::core::ops::Deref for __NamesOfParticle {
        type Target = ();
        fn deref(&self) -> &() {
            &()
        }
    }
    shmem::__private::plain_data! {
        Particle, [], [], [], []
    }
};
