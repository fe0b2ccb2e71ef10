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
    shmem::__private::require_no_padding(
        "Particle",
        shmem::__private::core::mem::size_of::<Particle>(),
        &[
            shmem::__private::core::mem::size_of::<<Particle as __Types>::__Field0>(),
            shmem::__private::core::mem::size_of::<<Particle as __Types>::__Field1>(),
            shmem::__private::core::mem::size_of::<<Particle as __Types>::__Field2>(),
        ],
    );
    #[automatically_derived]
    unsafe impl shmem::__private::Derived for Particle {
        #[allow(clippy::multiple_bound_locations)]
        fn seen(self) {
            let () = <<Particle as __Types>::__Field0 as shmem::__private::FieldOf<
                Particle,
            >>::CHECKED;
            let () = <<Particle as __Types>::__Field1 as shmem::__private::FieldOf<
                Particle,
            >>::CHECKED;
            let () = <<Particle as __Types>::__Field2 as shmem::__private::FieldOf<
                Particle,
            >>::CHECKED;
            let Self { position: __field0, charge: __field1, pad: __field2 } = self;
            let __found = shmem::__private::type_of(&__field0);
            __found.require_seen::<<Particle as __Types>::__Field0>();
            let __found = shmem::__private::type_of(&__field1);
            __found.require_seen::<<Particle as __Types>::__Field1>();
            let __found = shmem::__private::type_of(&__field2);
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
    #[automatically_derived]
    unsafe impl shmem::__private::Zeroable for Particle {}
    #[automatically_derived]
    unsafe impl shmem::__private::Pod for Particle {}
    #[allow(unused_imports)]
    use shmem::__private::Undivided as _;
    #[automatically_derived]
    unsafe impl shmem::__private::Shaped for Particle {
        type Element = Self;
        type Names = __NamesOfParticle;
        const SHAPE: shmem::__private::Shape = shmem::__private::Shape::element(
            shmem::__private::core::mem::size_of::<Self>(),
        );
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
    }
    #[automatically_derived]
    unsafe impl shmem::__private::SymmetricData for Particle {}
};
