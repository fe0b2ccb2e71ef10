//! The choice among interfaces of one network.
//!
//! libfabric offers providers on interfaces, and names the network of each interface. PEs on networks of the same name reach each
//! other. So a PE may choose any interface of the best offer's network. It chooses the interface that is nearest to its CPUs. Of
//! equally near ones, the PEs of a host use each in turn.

use core::fmt;
use core::net::IpAddr;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A provider on an interface, as libfabric offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Name of the provider, such as `tcp;ofi_rxm` or `verbs;ofi_rxm`.
    pub provider: String,
    /// Name of the interface, such as `eth0` or `mlx5_0`.
    pub interface: String,
    /// The provider's name for the network, or empty.
    pub network: String,
    /// The interface's IP address, if any.
    pub address: Option<IpAddr>,
    /// The NUMA node that the interface is attached to; `None`: not known, or none.
    pub node: Option<u32>,
    /// Whether the interface has no device (a bridge, one end of a virtual cable). libfabric lists interfaces of containers before
    /// those of the machine, although they reach no other host.
    pub is_virtual: bool,
    /// Whether the provider offers atomic operations.
    pub atomics: bool,
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.provider, self.interface)?;
        self.address.map_or(Ok(()), |address| write!(f, " ({address})"))
    }
}

/// Location of a PE on its host, for the choice of the nearest interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearness {
    /// The distance of each NUMA node from the CPUs of the PE, as the firmware reports it: 10 is local.
    pub distances: BTreeMap<u32, u32>,
    /// The index of the PE among those of its host.
    pub turn: usize,
}

impl Nearness {
    /// Returns the index of the chosen offer, which has the provider and network of offer `best`. If the user has listed interfaces
    /// (`lists`), these are assumed to reach each other, whatever the names of their networks.
    pub(super) fn choose(&self, offers: &[Offer], best: usize, lists: bool) -> usize {
        let Offer { provider, network, atomics, .. } = &offers[best];
        let is_alike = |offer: &Offer| {
            offer.network == *network
                && !network.is_empty()
                && offer.address.is_some() == offers[best].address.is_some()
                && offer.is_virtual == offers[best].is_virtual
        };
        let family = |offer: &Offer| offer.address.map(|address| address.is_ipv4());
        let leads_there = |offer: &&Offer| {
            offer.provider == *provider
                && offer.atomics == *atomics
                && (is_alike(offer) || lists && family(offer) == family(&offers[best]))
        };
        let nearest = offers.iter().filter(leads_there).map(|offer| self.distance(offer)).min();
        let mut interfaces: Vec<&str> = Vec::new();
        let mut choices = Vec::new();
        for (number, offer) in offers.iter().enumerate().filter(|(_, offer)| leads_there(offer)) {
            if Some(self.distance(offer)) == nearest && !interfaces.contains(&offer.interface.as_str()) {
                interfaces.push(&offer.interface);
                choices.push(number);
            }
        }
        match choices.len() {
            0 => best,
            count => choices[self.turn % count],
        }
    }

    /// Distance of an offer's interface from the PE's CPUs; `u32::MAX`: not known.
    fn distance(&self, offer: &Offer) -> u32 {
        offer.node.and_then(|node| self.distances.get(&node)).copied().unwrap_or(u32::MAX)
    }
}

/// The PCI address of a device: domain, bus, device, function.
pub(super) type Bus = (u16, u8, u8, u8);

/// The NUMA node of an interface, read from the file system below `root`.
pub(super) fn node_of(root: &Path, interface: &str, bus: Option<Bus>) -> Option<u32> {
    let on_bus = bus.map(|(domain, bus, device, function)| {
        format!("sys/bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.{function:x}/numa_node")
    });
    let by_name =
        ["net", "infiniband", "cxi"].map(|class| format!("sys/class/{class}/{interface}/device/numa_node"));
    let read = |path: String| fs::read_to_string(root.join(path)).ok()?.trim().parse().ok();
    // -1 (no NUMA node) does not parse as a `u32`.
    on_bus.into_iter().chain(by_name).find_map(read)
}

/// Whether an interface has no device, according to the file system below `root`.
pub(super) fn is_virtual(root: &Path, interface: &str) -> bool {
    let interface = root.join("sys/class/net").join(interface);
    interface.exists() && !interface.join("device").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers of one provider, by interface, network and node.
    fn offers(list: &[(&str, &str, Option<u32>)]) -> Vec<Offer> {
        let offer = |&(interface, network, node): &(&str, &str, _)| Offer {
            provider: "verbs".into(),
            interface: interface.into(),
            network: network.into(),
            address: None,
            node,
            is_virtual: interface.starts_with("br"),
            atomics: true,
        };
        list.iter().map(offer).collect()
    }

    #[test]
    fn the_nearest_interfaces_of_the_network_are_taken_in_turn() {
        let two = offers(&[("a", "ib", Some(0)), ("b", "ib", Some(1)), ("c", "net", Some(1))]);
        let equal =
            offers(&[("a", "ib", Some(0)), ("b", "ib", Some(0)), ("b", "ib", Some(0)), ("c", "ib", None)]);
        let far = offers(&[("d", "ib", Some(3)), ("b", "ib", Some(1)), ("c", "ib", Some(2))]);
        let unknown = offers(&[("a", "ib", None), ("b", "ib", Some(1))]);
        let bridge = offers(&[("br0", "net", None), ("eth0", "net", None)]);
        let nameless = offers(&[("a", "", Some(0)), ("b", "", Some(0))]);
        let (distances, near_1): (&[_], &[_]) = (&[(0, 10), (1, 31), (2, 12), (3, 21)], &[(0, 21), (1, 10)]);
        let near = |distances: &[_], turn| Nearness { distances: distances.iter().copied().collect(), turn };
        let listed = [0, 1].map(|turn| near(&[(1, 10)], turn).choose(&two[1..], 0, true));
        assert_eq!(listed, [0, 1], "those that are listed, of two networks");
        for (offers, best, distances, taken, why) in [
            (&two, 0, distances, [0; 3], "the nearest"),
            (&two, 0, near_1, [1; 3], "another network is no choice"),
            (&two, 2, near_1, [2; 3], "nor is this one"),
            (&equal, 0, distances, [0, 1, 0], "equally near ones, each once"),
            (&equal, 0, &[], [0, 1, 3], "nothing is known: all are equal"),
            (&far, 0, distances, [2; 3], "distances decide, and not the order of the offers"),
            (&far, 1, distances, [2; 3], "nor what is best"),
            (&unknown, 0, distances, [1; 3], "not known is farthest"),
            (&bridge, 1, &[], [1; 3], "a bridge takes no turn beside a device"),
            (&nameless, 0, distances, [0; 3], "without a network"),
        ] {
            let found = [0, 1, 2].map(|turn| near(distances, turn).choose(offers, best, false));
            assert_eq!(found, taken, "{why}");
        }
    }

    #[cfg(not(miri))]
    #[test]
    fn the_node_of_an_interface_is_read_from_its_bus_or_by_its_name() {
        let tree = crate::fixture::Tree::new();
        tree.write("sys/bus/pci/devices/0000:3b:00.1/numa_node", "1\n");
        tree.write("sys/class/net/eth0/device/numa_node", "0\n");
        tree.write("sys/class/infiniband/mlx5_0/device/numa_node", "-1\n");
        let node = |interface, bus| node_of(tree.root(), interface, bus);
        assert_eq!(node("eth0", Some((0, 0x3b, 0, 1))), Some(1));
        assert_eq!(node("eth0", Some((0, 0x3c, 0, 1))), Some(0));
        assert_eq!((node("mlx5_0", None), node("lo", None)), (None, None));
        tree.write("sys/class/net/docker0/mtu", "1500\n");
        let found = ["eth0", "mlx5_0", "docker0"].map(|interface| is_virtual(tree.root(), interface));
        assert_eq!(found, [false, false, true]);
    }
}
