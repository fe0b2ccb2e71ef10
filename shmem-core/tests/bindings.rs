//! The generated bindings to libfabric against the headers of this system, where it has some: 1.14 to 2.x.
//!
//! Later versions append fields to structures, and put fields into unions at the same offset. So each field must have the offset and
//! the size that it has in the bindings, and a structure may be larger. Fields that are newer than 1.14 are compared if the headers have
//! them.

use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

use shmem_core::libfabric::bindings::*;

const BINDINGS: &str = include_str!("../src/libfabric/bindings.rs");
const CALLS: &str = include_str!("../src/libfabric/calls.rs");

/// A structure in the bindings: its name, its size, and its fields.
struct Structure {
    name: &'static str,
    size: usize,
    fields: Vec<Field>,
}

struct Field {
    name: &'static str,
    offset: usize,
    bytes: usize,
    /// Whether the version [`LATER`] appended the field.
    is_later: bool,
}

/// The version that appended the fields behind a semicolon below.
const LATER: &str = "FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 17";

impl Structure {
    /// Bytes of the structure in every version.
    fn least(&self) -> usize {
        self.fields.iter().filter(|field| field.is_later).map(|field| field.offset).min().unwrap_or(self.size)
    }
}

fn bytes_of<S, F>(_: impl Fn(&S) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! structures {
    ($($name:ident { $($field:ident),* $(; $($later:ident),*)? })*) => {
        vec![$(Structure {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![
                $(structures!(@ $name $field false),)*
                $($(structures!(@ $name $later true),)*)?
            ],
        }),*]
    };
    (@ $name:ident $field:ident $is_later:literal) => {
        Field {
            name: stringify!($field),
            offset: offset_of!($name, $field),
            bytes: bytes_of(|of: &$name| &of.$field),
            is_later: $is_later,
        }
    };
}

fn structures() -> Vec<Structure> {
    structures! {
        fi_info {
            next, caps, mode, addr_format, src_addrlen, dest_addrlen, src_addr, dest_addr, handle, tx_attr,
            rx_attr, ep_attr, domain_attr, fabric_attr, nic
        }
        fi_tx_attr {
            caps, mode, op_flags, msg_order, comp_order, inject_size, size, iov_limit, rma_iov_limit, tclass
        }
        fi_rx_attr { caps, mode, op_flags, msg_order, comp_order, total_buffered_recv, size, iov_limit }
        fi_ep_attr {
            type_, protocol, protocol_version, max_msg_size, msg_prefix_size, max_order_raw_size,
            max_order_war_size, max_order_waw_size, mem_tag_format, tx_ctx_cnt, rx_ctx_cnt, auth_key_size,
            auth_key
        }
        fi_domain_attr {
            domain, name, threading, control_progress, data_progress, resource_mgmt, av_type, mr_mode,
            mr_key_size, cq_data_size, cq_cnt, ep_cnt, tx_ctx_cnt, rx_ctx_cnt, max_ep_tx_ctx, max_ep_rx_ctx,
            max_ep_stx_ctx, max_ep_srx_ctx, cntr_cnt, mr_iov_limit, caps, mode, auth_key, auth_key_size,
            max_err_data, mr_cnt, tclass
        }
        fi_fabric_attr { fabric, name, prov_name, prov_version, api_version }
        fi_cq_attr { size, flags, format, wait_obj, signaling_vector, wait_cond, wait_set }
        fi_cntr_attr { events, wait_obj, wait_set, flags }
        fi_av_attr { type_, rx_ctx_bits, count, ep_per_node, name, map_addr, flags }
        fi_mr_attr {
            mr_iov, iov_count, access, offset, requested_key, context, auth_key_size, auth_key, iface,
            device
        }
        fi_msg { msg_iov, desc, iov_count, addr, context, data }
        fi_msg_rma { msg_iov, desc, iov_count, addr, rma_iov, rma_iov_count, context, data }
        fi_msg_atomic { msg_iov, desc, iov_count, addr, rma_iov, rma_iov_count, datatype, op, context, data }
        fi_rma_iov { addr, len, key }
        fi_rma_ioc { addr, count, key }
        fi_ioc { addr, count }
        fi_cq_data_entry { op_context, flags, len, buf, data }
        fi_cq_err_entry {
            op_context, flags, len, buf, data, tag, olen, err, prov_errno, err_data, err_data_size
        }
        fi_context2 { internal }
        fi_bus_attr { bus_type, attr }
        fi_pci_attr { domain_id, bus_id, device_id, function_id }
        fid { fclass, context, ops }
        fid_fabric { fid, ops, api_version }
        fid_domain { fid, ops, mr }
        fid_ep { fid, ops, cm, msg, rma, tagged, atomic, collective }
        fid_cq { fid, ops }
        fid_cntr { fid, ops }
        fid_av { fid, ops }
        fid_mr { fid, mem_desc, key }
        fid_nic { fid, device_attr, bus_attr, link_attr, prov_attr }
        fi_ops { size, close, bind, control, ops_open, tostr, ops_set }
        fi_ops_fabric { size, domain, passive_ep, eq_open, wait_open, trywait; domain2 }
        fi_ops_domain {
            size, av_open, cq_open, endpoint, scalable_ep, cntr_open, poll_open, stx_ctx, srx_ctx,
            query_atomic, query_collective; endpoint2
        }
        fi_ops_ep { size, cancel, getopt, setopt, tx_ctx, rx_ctx, rx_size_left, tx_size_left }
        fi_ops_cm { size, setname, getname, getpeer, connect, listen, accept, reject, shutdown, join }
        fi_ops_msg { size, recv, recvv, recvmsg, send, sendv, sendmsg, inject, senddata, injectdata }
        fi_ops_rma { size, read, readv, readmsg, write, writev, writemsg, inject, writedata, injectdata }
        fi_ops_atomic {
            size, write, writev, writemsg, inject, readwrite, readwritev, readwritemsg, compwrite,
            compwritev, compwritemsg, writevalid, readwritevalid, compwritevalid
        }
        fi_ops_cq { size, read, readfrom, readerr, sread, sreadfrom, signal, strerror }
        fi_ops_cntr { size, read, readerr, add, set, wait, adderr, seterr }
        fi_ops_av { size, insert, insertsvc, insertsym, remove, lookup, straddr, av_set }
        fi_ops_mr { size, reg, regv, regattr }
    }
}

/// The constants of the bindings, with their values.
fn constants() -> Vec<(&'static str, u64)> {
    let declared = BINDINGS.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(": "));
    let value = |rest: &str| rest.split_once(" = ").unwrap().1.trim_end_matches(';').parse().unwrap();
    declared.map(|(name, rest)| (name, value(rest))).collect()
}

/// Functions that a library exports, with their types in `shmem_core::libfabric`.
const FUNCTIONS: [(&str, &str); 6] = [
    (
        "fi_getinfo",
        "int (uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **)",
    ),
    ("fi_freeinfo", "void (struct fi_info *)"),
    ("fi_dupinfo", "struct fi_info *(const struct fi_info *)"),
    ("fi_fabric", "int (struct fi_fabric_attr *, struct fid_fabric **, void *)"),
    ("fi_version", "uint32_t (void)"),
    ("fi_strerror", "const char *(int)"),
];

/// Computes C expressions with the C compiler. `None` if the headers or the compiler are not installed.
fn ask(expressions: &[String]) -> Option<Vec<u64>> {
    let mut source = "#include <stddef.h>\n#include <stdio.h>\n".to_owned();
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
    // Missing headers are no failure. With headers, an expression that does not compile is one.
    fs::write(&file, "#if !__has_include(<rdma/fabric.h>)\n#error none\n#endif\n").unwrap();
    if !compiler().arg("-fsyntax-only").output().ok()?.status.success() {
        return None;
    }
    source.push_str("int main(void) {\n");
    for expression in expressions {
        let (condition, value) = expression.split_once('?').unwrap_or(("1", expression));
        let print = |value: &str| format!("printf(\"%llu\\n\", (unsigned long long)({value}));\n");
        write!(source, "#if {condition}\n{}#else\n{}#endif\n", print(value), print("-1")).unwrap();
    }
    source.push_str("return 0; }\n");
    fs::write(&file, &source).unwrap();
    let output = compiler().arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
    Some(answers.lines().map(|line| line.parse().unwrap()).collect())
}

#[test]
fn bindings_are_those_of_the_headers_installed_here() {
    let (structures, constants) = (structures(), constants());
    let mut asked = Vec::new();
    for Structure { name, fields, .. } in &structures {
        asked.push(format!("sizeof(struct {name})"));
        for field in fields {
            // Names that are keywords in Rust have an underscore at the end.
            let in_c = field.name.trim_end_matches('_');
            let condition = if field.is_later { format!("{LATER}?") } else { String::new() };
            asked.push(format!("{condition}offsetof(struct {name}, {in_c})"));
            asked.push(format!("{condition}sizeof(((struct {name} *)0)->{in_c})"));
        }
    }
    asked.extend(constants.iter().map(|(name, _)| (*name).to_owned()));
    asked.extend(
        FUNCTIONS.map(|(name, of)| format!("__builtin_types_compatible_p(__typeof__({name}), {of})")),
    );
    let Some(answers) = ask(&asked) else {
        eprintln!("skipped: there are no headers of libfabric (libfabric-dev), or no C compiler");
        return;
    };
    assert_eq!(answers.len(), asked.len());
    let mut answers = answers.into_iter();
    let mut next = || answers.next().unwrap();
    for structure in &structures {
        let (name, least, there) = (structure.name, structure.least(), next());
        assert!(there >= least as u64, "{name} has {there} bytes, and the bindings have {least}");
        for field in &structure.fields {
            let (offset, bytes) = (next(), next());
            // These headers are older than the field.
            if field.is_later && offset == u64::MAX {
                continue;
            }
            let expected = (field.offset as u64, field.bytes as u64);
            assert_eq!((offset, bytes), expected, "offset and bytes of {name}.{}", field.name);
        }
    }
    for (name, value) in constants {
        assert_eq!(next(), value, "{name}");
    }
    for (name, of) in FUNCTIONS {
        assert_eq!(next(), 1, "{name} is no {of}");
    }
}

#[test]
fn all_structures_of_the_bindings_are_compared() {
    let declared = BINDINGS.split("pub struct ").skip(1).filter_map(|text| text.split_once(" {\n"));
    let declared = declared.map(|(name, body)| {
        let lines = body.split("\n}").next().unwrap().lines();
        (name, lines.filter_map(|line| line.strip_prefix("    pub ")?.split(':').next()).collect())
    });
    // Tables of calls: `NAME of fid.. {`, then entries that end with a semicolon.
    let tables = CALLS.split("\n    }").filter_map(|table| {
        let (head, entries) = table.rsplit_once(" {\n")?;
        let (name, _) = head.rsplit('\n').next()?.trim().split_once(" of fid")?;
        let entries = entries.split(';').filter_map(|entry| entry.trim().split(':').next());
        Some((name, ["size"].into_iter().chain(entries.filter(|name| !name.is_empty())).collect()))
    });
    let mut declared: Vec<(_, Vec<_>)> = declared.chain(tables).collect();
    let compared = structures().into_iter();
    let mut compared: Vec<_> =
        compared.map(|of| (of.name, of.fields.iter().map(|field| field.name).collect())).collect();
    declared.sort_unstable();
    compared.sort_unstable();
    assert_eq!(declared, compared);
}
