//! The function tables that objects of libfabric carry, and the functions that call through these tables (inline in its headers).
//!
//! Tables, entries and functions have the names in libfabric's manual pages, functions without `fi_`. A function is one indirect
//! call. `tests/bindings.rs` compares the tables with the headers of the system.

use core::ffi::{c_char, c_int, c_void};

use super::bindings::*;

/// Defines tables, with their entries in order. An entry that is called has a function name, further arguments, and a result.
macro_rules! tables {
    ($($table:ident of $object:ident.$field:ident {
        $($entry:ident $(: $name:ident($($argument:ident: $type:ty),*) -> $result:ty)?;)*
    })*) => {$(
        #[doc = concat!("`struct ", stringify!($table), "`.")]
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, non_camel_case_types, reason = "libfabric's own")]
        pub struct $table {
            pub size: usize,
            $(pub $entry: Option<tables!(@ $object $($($type),* => $result)?)>,)*
        }

        $($(
            #[doc = concat!("`fi_", stringify!($name), "`.")]
            ///
            /// # Safety
            ///
            /// The object must be open and have this function. The arguments must be as libfabric's manual page demands.
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "libfabric's own")]
            pub unsafe fn $name(object: *mut $object $(, $argument: $type)*) -> $result {
                // SAFETY: the object is open (caller).
                let table = unsafe { (*object).$field };
                // No reference to the table is made, because an older libfabric has a shorter table.
                // SAFETY: the object is open and has this function (caller). Its table has this entry since version 1.14.
                let call = unsafe { (*table).$entry }.expect(concat!("libfabric has fi_", stringify!($name)));
                // SAFETY: the caller's promise.
                unsafe { call(object $(, $argument)*) }
            }
        )?)*
    )*};
    (@ $object:ident) => { unsafe extern "C" fn() };
    (@ $object:ident $($type:ty),* => $result:ty) => {
        unsafe extern "C" fn(*mut $object $(, $type)*) -> $result
    };
}

tables! {
    fi_ops of fid.ops {
        close: close() -> c_int;
        bind: bind(to: *mut fid, flags: u64) -> c_int;
        control: control(command: c_int, argument: *mut c_void) -> c_int;
        ops_open; tostr; ops_set;
    }

    fi_ops_fabric of fid_fabric.ops {
        domain: domain(info: *mut fi_info, domain: *mut *mut fid_domain, context: *mut c_void) -> c_int;
        passive_ep; eq_open; wait_open;
        trywait: trywait(fids: *mut *mut fid, count: c_int) -> c_int;
        domain2;
    }

    fi_ops_domain of fid_domain.ops {
        av_open: av_open(attr: *mut fi_av_attr, av: *mut *mut fid_av, context: *mut c_void) -> c_int;
        cq_open: cq_open(attr: *mut fi_cq_attr, cq: *mut *mut fid_cq, context: *mut c_void) -> c_int;
        endpoint: endpoint(info: *mut fi_info, ep: *mut *mut fid_ep, context: *mut c_void) -> c_int;
        scalable_ep;
        cntr_open: cntr_open(attr: *mut fi_cntr_attr, cntr: *mut *mut fid_cntr, context: *mut c_void) -> c_int;
        poll_open; stx_ctx; srx_ctx; query_atomic; query_collective; endpoint2;
    }

    fi_ops_mr of fid_domain.mr {
        reg: mr_reg(buf: *const c_void, len: usize, access: u64, offset: u64, requested_key: u64, flags: u64,
            mr: *mut *mut fid_mr, context: *mut c_void) -> c_int;
        regv; regattr;
    }

    fi_ops_av of fid_av.ops {
        insert: av_insert(addr: *const c_void, count: usize, fi_addr: *mut fi_addr_t, flags: u64, context: *mut c_void) -> c_int;
        insertsvc; insertsym; remove;
        lookup: av_lookup(fi_addr: fi_addr_t, addr: *mut c_void, addrlen: *mut usize) -> c_int;
        straddr: av_straddr(addr: *const c_void, buf: *mut c_char, len: *mut usize) -> *const c_char;
        av_set;
    }

    fi_ops_cq of fid_cq.ops {
        read: cq_read(buf: *mut c_void, count: usize) -> isize;
        readfrom;
        readerr: cq_readerr(buf: *mut fi_cq_err_entry, flags: u64) -> isize;
        sread; sreadfrom; signal; strerror;
    }

    fi_ops_cntr of fid_cntr.ops {
        read: cntr_read() -> u64;
        readerr; add; set; wait; adderr; seterr;
    }

    fi_ops_ep of fid_ep.ops {
        cancel; getopt; setopt; tx_ctx; rx_ctx; rx_size_left; tx_size_left;
    }

    fi_ops_cm of fid_ep.cm {
        setname;
        getname: getname(addr: *mut c_void, addrlen: *mut usize) -> c_int;
        getpeer; connect; listen; accept; reject; shutdown; join;
    }

    fi_ops_msg of fid_ep.msg {
        recv: recv(buf: *mut c_void, len: usize, desc: *mut c_void, src_addr: fi_addr_t, context: *mut c_void) -> isize;
        recvv; recvmsg; send; sendv;
        sendmsg: sendmsg(msg: *const fi_msg, flags: u64) -> isize;
        inject; senddata; injectdata;
    }

    fi_ops_rma of fid_ep.rma {
        read; readv;
        readmsg: readmsg(msg: *const fi_msg_rma, flags: u64) -> isize;
        write; writev;
        writemsg: writemsg(msg: *const fi_msg_rma, flags: u64) -> isize;
        inject; writedata; injectdata;
    }

    fi_ops_atomic of fid_ep.atomic {
        write; writev;
        writemsg: atomicmsg(msg: *const fi_msg_atomic, flags: u64) -> isize;
        inject; readwrite; readwritev;
        readwritemsg: fetch_atomicmsg(msg: *const fi_msg_atomic, resultv: *mut fi_ioc, result_desc: *mut *mut c_void,
            result_count: usize, flags: u64) -> isize;
        compwrite; compwritev;
        compwritemsg: compare_atomicmsg(msg: *const fi_msg_atomic, comparev: *const fi_ioc, compare_desc: *mut *mut c_void,
            compare_count: usize, resultv: *mut fi_ioc, result_desc: *mut *mut c_void, result_count: usize, flags: u64) -> isize;
        writevalid; readwritevalid; compwritevalid;
    }
}
