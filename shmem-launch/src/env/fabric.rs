//! What the environment asks of the fabric.

use shmem_core::memory::Machine;
use shmem_core::transport::ofi::{Nearness, Options};

use super::settings::Settings;

impl Settings {
    /// How the fabric is to be opened by the PE that is `turn`th of its host: of several interfaces it takes the nearest.
    pub fn fabric(&self, turn: usize) -> Options {
        let topology = Machine::default().topology();
        let homes = topology.homes();
        let from = topology.nodes().iter().filter(|node| homes.contains(&node.number));
        // The distances of a node are listed in the order of the nodes.
        let nearest = |to: usize| from.clone().filter_map(|node| node.distances.get(to)).min().copied();
        let nodes = topology.nodes().iter().enumerate();
        let distances = nodes.filter_map(|(k, node)| Some((node.number, nearest(k)?))).collect();
        Options {
            library: self.libfabric.clone(),
            provider: self.ofi_provider.clone(),
            interface: self.ofi_interface.clone(),
            timeout: self.timeout,
            spins: false,
            near: Nearness { distances, turn },
        }
    }
}
