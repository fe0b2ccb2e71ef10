//! Which interface, where several lead to the same place.
//!
//! libfabric names, for each entry, the network that it is on: PEs on equal ones reach each other. So a PE may take
//! any of the interfaces of the best entry's network, and takes the nearest to the CPUs that it runs on; equally
//! near ones the PEs of a host take in turn.

use core::fmt;
use core::net::IpAddr;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A provider on an interface, as libfabric offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The provider: `tcp;ofi_rxm`, `verbs;ofi_rxm`.
    pub provider: String,
    /// The interface: `eth0`, `mlx5_0`.
    pub interface: String,
    /// The network, as the provider calls it; empty: it does not say.
    pub network: String,
    /// The address on the internet, if it has one.
    pub address: Option<IpAddr>,
    /// The NUMA node that the interface is attached to; `None`: not known, or none.
    pub node: Option<u32>,
    /// Whether it is made of software alone: a bridge, one end of a pair. Those of containers come before
    /// those of the machine in libfabric's order, and lead to no other host.
    pub is_virtual: bool,
    /// Whether it says that it has atomic operations.
    pub atomics: bool,
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.provider, self.interface)?;
        self.address.map_or(Ok(()), |address| write!(f, " ({address})"))
    }
}

/// Where a PE runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearness {
    /// The distance of each NUMA node from the CPUs of the PE, as the firmware tells it: 10 is here.
    pub distances: BTreeMap<u32, u32>,
    /// Which of the PEs of its host it is.
    pub turn: usize,
}

impl Nearness {
    /// Which of the offers, of the same provider and network as `best`, is to be taken. Where the user `lists` interfaces, they are taken
    /// to reach each other, whatever their networks are called.
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

    /// What is not known is as far as anything.
    fn distance(&self, offer: &Offer) -> u32 {
        offer.node.and_then(|node| self.distances.get(&node)).copied().unwrap_or(u32::MAX)
    }
}

/// Where a device is on the bus: domain, bus, device, function.
pub(super) type Bus = (u16, u8, u8, u8);

/// The NUMA node that an interface is attached to, from what the system in `root` says.
pub(super) fn node_of(root: &Path, interface: &str, bus: Option<Bus>) -> Option<u32> {
    let on_bus = bus.map(|(domain, bus, device, function)| {
        format!("sys/bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.{function:x}/numa_node")
    });
    let by_name =
        ["net", "infiniband", "cxi"].map(|class| format!("sys/class/{class}/{interface}/device/numa_node"));
    let read = |path: String| fs::read_to_string(root.join(path)).ok()?.trim().parse().ok();
    // -1 stands for none.
    on_bus.into_iter().chain(by_name).find_map(read)
}

/// Whether an interface of the system in `root` has no device behind it.
pub(super) fn is_virtual(root: &Path, interface: &str) -> bool {
    let interface = root.join("sys/class/net").join(interface);
    interface.exists() && !interface.join("device").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(interface: &str, network: &str, node: Option<u32>) -> Offer {
        let (provider, interface, network) = ("verbs".into(), interface.into(), network.into());
        Offer { provider, interface, network, address: None, node, is_virtual: false, atomics: true }
    }

    fn near(distances: &[(u32, u32)], turn: usize) -> Nearness {
        Nearness { distances: distances.iter().copied().collect(), turn }
    }

    #[test]
    fn the_nearest_interfaces_of_the_network_are_taken_in_turn() {
        let bridge = Offer { is_virtual: true, ..offer("br0", "net", None) };
        let twice = offer("mlx5_1", "ib", Some(0));
        let far = [3, 1, 2].map(|node| offer(&format!("mlx5_{node}"), "ib", Some(node)));
        let two =
            [offer("mlx5_0", "ib", Some(0)), offer("mlx5_1", "ib", Some(1)), offer("mlx5_2", "net", Some(1))];
        let equal = [offer("mlx5_0", "ib", Some(0)), twice.clone(), twice, offer("mlx5_2", "ib", None)];
        let distances = [(0, 10), (1, 31), (2, 12), (3, 21)];
        let near_0 = [(0, 10), (1, 21)];
        let near_1 = [(0, 21), (1, 10)];
        type Case<'a> = (&'a [Offer], usize, &'a [(u32, u32)], [usize; 3], &'a str);
        let cases: [Case<'_>; 10] = [
            (&two, 0, &near_0, [0; 3], "the nearest"),
            (&two, 0, &near_1, [1; 3], "another network is no choice"),
            (&two, 2, &near_1, [2; 3], "nor is this one"),
            (&equal, 0, &[(0, 10)], [0, 1, 0], "equally near ones, each once"),
            (&equal, 0, &[], [0, 1, 3], "nothing is known: all are equal"),
            (&far, 0, &distances, [2; 3], "distances decide, and not the order of the offers"),
            (&far, 1, &distances, [2; 3], "nor what is best"),
            (
                &[offer("a", "ib", None), offer("b", "ib", Some(1))],
                0,
                &distances,
                [1; 3],
                "not known is farthest",
            ),
            (&[bridge, offer("eth0", "net", None)], 1, &[], [1; 3], "a bridge takes no turn beside a device"),
            (&[offer("a", "", Some(0)), offer("b", "", Some(0))], 0, &near_0, [0; 3], "without a network"),
        ];
        let listed = [0, 1].map(|turn| near(&[(1, 10)], turn).choose(&two[1..], 0, true));
        assert_eq!(listed, [0, 1], "those that are listed, of two networks");
        for (offers, best, distances, taken, why) in cases {
            assert_eq!(
                [0, 1, 2].map(|turn| near(distances, turn).choose(offers, best, false)),
                taken,
                "{why}"
            );
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
