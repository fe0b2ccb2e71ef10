//! The addresses of this host under which launchers on others may reach it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;

/// Network interfaces: one by its name, or all whose address lies in a network.
///
/// ```
/// # use shmem_launch as shmem;
/// use shmem::launch::Interface;
///
/// assert_eq!("10.1.0.0/16".parse::<Interface>().unwrap().to_string(), "10.1.0.0/16");
/// assert_eq!("eth1".parse::<Interface>().unwrap().to_string(), "eth1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface(Chosen);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Chosen {
    Name(String),
    Network(IpNet),
}

/// An address of an interface of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(super) interface: String,
    pub(crate) address: IpAddr,
}

impl Interface {
    fn has(&self, address: &Address) -> bool {
        match &self.0 {
            Chosen::Name(name) => *name == address.interface,
            Chosen::Network(network) => network.contains(&address.address),
        }
    }
}

impl FromStr for Interface {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("`{text}` is no interface: write its name, or a network, as `10.1.0.0/16`");
        if let Ok(network) = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)) {
            return Ok(Self(Chosen::Network(network)));
        }
        let is_name = !text.is_empty() && !text.contains(['/', ',', ' ']);
        if is_name { Ok(Self(Chosen::Name(text.to_owned()))) } else { Err(refused()) }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Chosen::Name(name) => f.write_str(name),
            Chosen::Network(network) => network.fmt(f),
        }
    }
}

/// Those addresses that are to be tried, in the order of the wishes. Without a wish: all that others may
/// reach, and last those that only this host does, for launchers on it.
pub(super) fn choose(all: &[Address], wishes: &[Interface]) -> Vec<IpAddr> {
    let mut chosen: Vec<IpAddr> = Vec::new();
    let mut add = |address: &Address| {
        if !chosen.contains(&address.address) {
            chosen.push(address.address);
        }
    };
    if wishes.is_empty() {
        let (near, far): (Vec<_>, Vec<_>) = all.iter().partition(|a| a.address.is_loopback());
        far.into_iter().chain(near).for_each(&mut add);
    }
    for wish in wishes {
        all.iter().filter(|address| wish.has(address)).for_each(&mut add);
    }
    chosen
}

/// All addresses of interfaces that are up, but for those that mean something on one link only.
pub(crate) fn addresses() -> std::io::Result<Vec<Address>> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the pointer is valid for writes.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mut all = Vec::new();
    let mut next = list;
    // SAFETY: null, or an entry of the list, which is freed below only.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: the name of an entry is text that ends with a zero, and lives as long as the entry.
        let name = unsafe { std::ffi::CStr::from_ptr(entry.ifa_name) };
        let is_up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
        if let Some(address) = address(entry.ifa_addr).filter(|_| is_up) {
            all.push(Address { interface: name.to_string_lossy().into_owned(), address });
        }
    }
    // SAFETY: `getifaddrs` has made it, and no reference into it is left.
    unsafe { libc::freeifaddrs(list) };
    Ok(all)
}

fn address(raw: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: null, or an address of the list that `getifaddrs` has made, of whatever family.
    let family = i32::from(unsafe { raw.as_ref() }?.sa_family);
    match family {
        libc::AF_INET => {
            // SAFETY: the family says which structure it is.
            let address = unsafe { &*raw.cast::<libc::sockaddr_in>() };
            Some(Ipv4Addr::from_bits(u32::from_be(address.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says which structure it is.
            let address = unsafe { &*raw.cast::<libc::sockaddr_in6>() };
            let address = Ipv6Addr::from(address.sin6_addr.s6_addr);
            (!address.is_unicast_link_local()).then_some(address.into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Address> {
        let pairs = [("lo", "127.0.0.1"), ("eth0", "10.0.0.3"), ("ib0", "192.168.4.1"), ("ib0", "fd00::7")];
        let of = |(interface, address): (&str, &str)| Address {
            interface: interface.to_owned(),
            address: address.parse().unwrap(),
        };
        pairs.into_iter().map(of).collect()
    }

    fn chosen(wishes: &[&str]) -> Vec<String> {
        let wishes: Vec<Interface> = wishes.iter().map(|wish| wish.parse().unwrap()).collect();
        choose(&all(), &wishes).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_are_tried_in_the_order_of_the_wishes() {
        assert_eq!(chosen(&[]), ["10.0.0.3", "192.168.4.1", "fd00::7", "127.0.0.1"]);
        assert_eq!(chosen(&["ib0", "10.0.0.0/8"]), ["192.168.4.1", "fd00::7", "10.0.0.3"]);
        assert_eq!(chosen(&["192.168.4.1", "ib0"]), ["192.168.4.1", "fd00::7"]);
        assert_eq!(chosen(&["eth9", "172.16.0.0/12"]), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_interface_is_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0.0/x", "fd00::/129", "eth0/8", "eth0,eth1", "10.0.0.0/"] {
            assert!(text.parse::<Interface>().unwrap_err().contains("is no interface"), "{text}");
        }
    }

    #[test]
    fn this_host_has_an_address_for_itself() {
        assert!(addresses().unwrap().iter().any(|address| address.address.is_loopback()));
    }
}
