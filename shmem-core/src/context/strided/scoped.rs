//! The routines whose strides are arguments, as operations of a scope.

use super::routines::{get_elements, get_mem, put_elements, put_mem};
use super::sized::{check_size, sized_routine, sized_routines};
use super::table::{routine, routines};
use crate::context::nonblocking::Scope;
use crate::data::PlainData;
use crate::endpoint::{Initiator, Stores};
use crate::object::{On, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;

/// Strided puts, as those of [`Strided`](super::Strided), which may go on until the end of the scope. `strided!`
/// takes a scope, too.
impl<'env, I: Stores + ?Sized> Scope<'_, 'env, I> {
    routines! {
        [pub] [&'env] []
        /// Starts writing `count` elements.
        ///
        /// # Panics
        ///
        /// If a stride is 0, or the last element does not lie in the place or the source.
        iput: put elements, IputNbi;

        /// Starts writing `count` blocks of `block` elements.
        ///
        /// # Panics
        ///
        /// If a stride is less than the block, or the last block does not lie in the place or the source.
        ibput: put blocks, IbputNbi;

        /// Starts writing `count` blocks of `block` bytes.
        ///
        /// # Panics
        ///
        /// If a stride is less than the block, the last block does not lie in the source, or the blocks do not
        /// lie in one partition.
        iputmem: put bytes, IputmemNbi;
    }

    sized_routines! {
        [pub] put [&'env]
        8: iput8, ibput8;
        16: iput16, ibput16;
        32: iput32, ibput32;
        64: iput64, ibput64;
        128: iput128, ibput128;
    }
}

/// Strided gets, as those of [`Strided`](super::Strided), which may go on until the end of the scope. `strided!`
/// takes a scope, too.
impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    routines! {
        [pub] [&'env] []
        /// Starts reading `count` elements.
        ///
        /// # Panics
        ///
        /// If a stride is 0, or the last element does not lie in the place or the destination.
        iget: get elements, IgetNbi;

        /// Starts reading `count` blocks of `block` elements.
        ///
        /// # Panics
        ///
        /// If a stride is less than the block, or the last block does not lie in the place or the destination.
        ibget: get blocks, IbgetNbi;

        /// Starts reading `count` blocks of `block` bytes.
        ///
        /// # Panics
        ///
        /// If a stride is less than the block, the last block does not lie in the destination, or the blocks do
        /// not lie in one partition.
        igetmem: get bytes, IgetmemNbi;
    }

    sized_routines! {
        [pub] get [&'env]
        8: iget8, ibget8;
        16: iget16, ibget16;
        32: iget32, ibget32;
        64: iget64, ibget64;
        128: iget128, ibget128;
    }
}
