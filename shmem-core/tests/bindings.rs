//! The generated bindings to libfabric against the headers of this system, where it has some: 1.14 to 2.x.
//!
//! Later versions append to structures, and put fields into unions at the place where they were: every field must be
//! where the bindings have it, and a structure may have grown.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

use shmem_core::libfabric::bindings::*;

/// What the bindings say of a structure: its name and size, and where its fields are.
struct Structure {
    name: &'static str,
    size: usize,
    fields: Vec<(&'static str, usize)>,
}

macro_rules! structures {
    ($($name:ident { $($field:ident),* })*) => {
        vec![$(Structure {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![$((stringify!($field), offset_of!($name, $field))),*],
        }),*]
    };
}

macro_rules! constants {
    ($($name:ident)*) => { vec![$((stringify!($name), u64::from($name))),*] };
}

/// Asks the C compiler for the values of expressions; `None`: there are no headers, or there is no compiler.
fn ask(expressions: &[String]) -> Option<Vec<u64>> {
    let mut source = String::new();
    for header in ["fabric", "fi_domain", "fi_endpoint", "fi_cm", "fi_rma", "fi_atomic", "fi_eq", "fi_errno"]
    {
        writeln!(source, "#include <rdma/{header}.h>").unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    let (file, program) = (directory.path().join("layout.c"), directory.path().join("layout"));
    let compiler = || {
        let mut compiler = Command::new("cc");
        compiler.arg(&file);
        compiler
    };
    // Whether there are headers is asked apart from whether the expressions are right.
    std::fs::write(&file, &source).unwrap();
    if !compiler().arg("-fsyntax-only").output().ok()?.status.success() {
        return None;
    }
    source.push_str("#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n");
    for expression in expressions {
        writeln!(source, "printf(\"%llu\\n\", (unsigned long long)({expression}));").unwrap();
    }
    source.push_str("return 0; }\n");
    std::fs::write(&file, &source).unwrap();
    let output = compiler().arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
    Some(answers.lines().map(|line| line.parse().unwrap()).collect())
}

#[test]
fn bindings_are_those_of_the_headers_installed_here() {
    let structures = structures! {
        fi_info { next, caps, mode, addr_format, src_addrlen, dest_addrlen, src_addr, dest_addr, handle,
            tx_attr, rx_attr, ep_attr, domain_attr, fabric_attr, nic }
        fi_tx_attr { caps, mode, op_flags, msg_order, comp_order, inject_size, size, iov_limit,
            rma_iov_limit, tclass }
        fi_rx_attr { caps, mode, op_flags, msg_order, comp_order, total_buffered_recv, size, iov_limit }
        fi_ep_attr { type_, protocol, protocol_version, max_msg_size, msg_prefix_size, max_order_raw_size,
            max_order_war_size, max_order_waw_size, mem_tag_format, tx_ctx_cnt, rx_ctx_cnt, auth_key_size,
            auth_key }
        fi_domain_attr { domain, name, threading, control_progress, data_progress, resource_mgmt, av_type,
            mr_mode, mr_key_size, cq_data_size, cq_cnt, ep_cnt, tx_ctx_cnt, rx_ctx_cnt, max_ep_tx_ctx,
            max_ep_rx_ctx, max_ep_stx_ctx, max_ep_srx_ctx, cntr_cnt, mr_iov_limit, caps, mode, auth_key,
            auth_key_size, max_err_data, mr_cnt, tclass }
        fi_fabric_attr { fabric, name, prov_name, prov_version, api_version }
        fi_cq_attr { size, flags, format, wait_obj, signaling_vector, wait_cond, wait_set }
        fi_cntr_attr { events, wait_obj, wait_set, flags }
        fi_av_attr { type_, rx_ctx_bits, count, ep_per_node, name, map_addr, flags }
        fi_mr_attr { mr_iov, iov_count, access, offset, requested_key, context, auth_key_size, auth_key,
            iface, device }
        fi_msg { msg_iov, desc, iov_count, addr, context, data }
        fi_msg_rma { msg_iov, desc, iov_count, addr, rma_iov, rma_iov_count, context, data }
        fi_msg_atomic { msg_iov, desc, iov_count, addr, rma_iov, rma_iov_count, datatype, op, context, data
            }
        fi_rma_iov { addr, len, key }
        fi_ioc { addr, count }
        fi_rma_ioc { addr, count, key }
        fi_cq_entry { op_context }
        fi_cq_err_entry { op_context, flags, len, buf, data, tag, olen, err, prov_errno, err_data,
            err_data_size }
        fid { fclass, context, ops }
        fid_fabric { fid, ops, api_version }
        fid_domain { fid, ops, mr }
        fid_ep { fid, ops, cm, msg, rma, tagged, atomic, collective }
        fid_cq { fid, ops }
        fid_cntr { fid, ops }
        fid_av { fid, ops }
        fid_mr { fid, mem_desc, key }
        fi_ops_msg { size, recv, recvv, recvmsg, send, sendv, sendmsg, inject, senddata, injectdata }
        fi_ops_rma { size, read, readv, readmsg, write, writev, writemsg, inject, writedata, injectdata }
        fi_ops_atomic { size, write, writev, writemsg, inject, readwrite, readwritev, readwritemsg,
            compwrite, compwritev, compwritemsg, writevalid, readwritevalid, compwritevalid }
        fi_ops_cq { size, read, readfrom, readerr, sread, sreadfrom, signal, strerror }
        fi_ops_cntr { size, read, readerr, add, set, wait, adderr, seterr }
        fi_ops_av { size, insert, insertsvc, insertsym, remove, lookup, straddr, av_set }
        fi_ops_mr { size, reg, regv, regattr }
        fi_ops_domain { size, av_open, cq_open, endpoint, scalable_ep, cntr_open, poll_open, stx_ctx,
            srx_ctx, query_atomic, query_collective, endpoint2 }
    };
    let constants = constants! {
        FI_DELIVERY_COMPLETE FI_INJECT FI_COMPLETION FI_RMA FI_ATOMIC FI_MSG FI_READ FI_WRITE FI_REMOTE_READ
        FI_REMOTE_WRITE FI_MR_LOCAL FI_MR_VIRT_ADDR FI_MR_ALLOCATED FI_MR_PROV_KEY FI_MR_ENDPOINT FI_EP_RDM
        FI_PROGRESS_MANUAL FI_PROGRESS_AUTO FI_THREAD_SAFE FI_AV_TABLE FI_WAIT_NONE FI_WAIT_FD FI_UINT32 FI_UINT64
        FI_SUM FI_CSWAP FI_ATOMIC_READ FI_ATOMIC_WRITE
    };
    let mut asked = Vec::new();
    for Structure { name, fields, .. } in &structures {
        asked.push(format!("sizeof(struct {name})"));
        // What is a keyword in Rust has an underscore more.
        let in_c = |field: &str| field.trim_end_matches('_').to_owned();
        asked.extend(fields.iter().map(|(field, _)| format!("offsetof(struct {name}, {})", in_c(field))));
    }
    asked.extend(constants.iter().map(|(name, _)| (*name).to_owned()));
    let Some(answers) = ask(&asked) else {
        eprintln!("skipped: there are no headers of libfabric (libfabric-dev), or no C compiler");
        return;
    };
    assert_eq!(answers.len(), asked.len());
    let mut answers = answers.into_iter();
    let mut next = || answers.next().unwrap();
    for Structure { name, size, fields } in &structures {
        let there = next();
        assert!(there >= *size as u64, "{name} has {there} bytes, and the bindings have {size}");
        for (field, offset) in fields {
            assert_eq!(next(), *offset as u64, "{name}.{field}");
        }
    }
    for (name, value) in constants {
        assert_eq!(next(), value, "{name}");
    }
}
