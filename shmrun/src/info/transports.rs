//! The output section `transports`.

use shmem_core::text_table::Columns;
use shmem_core::transport::ofi::{Offer, offers};
use shmem_launch::env::Settings;

type Trial<'a> = &'a dyn Fn(&[(&str, &str)]) -> Result<(), String>;

/// Returns a table of all transports, with the result of trying each. `trial` runs a job with the given environment variables.
///
/// # Safety
///
/// If the settings name a file for libfabric, it must be libfabric.
pub(crate) unsafe fn transports(settings: &Settings, trial: Trial<'_>) -> String {
    let options = settings.fabric(0);
    // SAFETY: the caller keeps this function's contract.
    let (fabric, providers) = match unsafe { offers(&options) } {
        Ok((offers, chosen)) => {
            let state = match &chosen {
                Some(chosen) => chosen.to_string(),
                None => "not usable: nothing that libfabric offers fits".to_owned(),
            };
            (state, Some(table(&offers, chosen.as_ref(), trial)))
        }
        Err(error) => (format!("not usable: {error}"), None),
    };
    let mut columns = Columns::new(["TRANSPORT", "REACHES", "STATE"], &[]).indented();
    let mut row = |name: &str, reaches: &str, state: String| {
        columns.push([name.to_owned(), reaches.to_owned(), state]);
    };
    row("shm", "PEs of the same node", state(trial(&[("SHMEM_TRANSPORT", "shm")])));
    row("ofi", "PEs of other nodes, through libfabric", fabric);
    row("loopback", "PEs of the same node, by copies (for tests)", "usable".to_owned());
    providers.map_or_else(|| columns.to_string(), |providers| format!("{columns}\n{providers}"))
}

/// Returns a table with the result of a trial for each provider on each interface. If an interface has several addresses, tries the
/// chosen one, or else the first.
fn table(offers: &[Offer], chosen: Option<&Offer>, trial: Trial<'_>) -> String {
    let heads = ["PROVIDER", "INTERFACE", "ADDRESS", "NETWORK", "NUMA NODE", "STATE"];
    let mut columns = Columns::new(heads, &[]).indented();
    let is_same = |a: &Offer, b: &Offer| a.provider == b.provider && a.interface == b.interface;
    let first = |offer: &Offer| offers.iter().find(|other| is_same(other, offer));
    let shown = |offer: &&Offer| match chosen.filter(|chosen| is_same(chosen, offer)) {
        Some(chosen) => chosen == *offer,
        None => first(offer).is_some_and(|first| first == *offer),
    };
    for offer in offers.iter().filter(shown) {
        let Offer { provider, interface, address, network, node, .. } = offer;
        let place = address.map_or_else(|| interface.clone(), |address| address.to_string());
        let variables =
            [("SHMEM_TRANSPORT", "ofi"), ("SHMEM_OFI_PROVIDER", provider), ("SHMEM_OFI_INTERFACE", &place)];
        let tried = state(trial(&variables));
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        columns.push([
            provider.clone(),
            interface.clone(),
            or_none(address.map(|address| address.to_string())),
            or_none(Some(network.clone()).filter(|network| !network.is_empty())),
            or_none(node.map(|node| node.to_string())),
            if chosen == Some(offer) { format!("{tried}, chosen") } else { tried },
        ]);
    }
    columns.to_string()
}

fn state(tried: Result<(), String>) -> String {
    tried.map_or_else(|why| format!("not usable: {why}"), |()| "usable".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(provider: &str, interface: &str, node: Option<u32>) -> Offer {
        let (provider, interface) = (provider.to_owned(), interface.to_owned());
        let network = "ib".to_owned();
        Offer { provider, interface, network, address: None, node, is_virtual: false, atomics: true }
    }

    #[test]
    fn every_offer_is_tried_and_the_chosen_one_is_marked() {
        let offers = [offer("verbs", "mlx5_0", Some(0)), offer("verbs", "mlx5_1", Some(1))];
        let trial = |variables: &[(&str, &str)]| match variables[2].1 {
            "mlx5_0" => Ok(()),
            _ => Err("no link".to_owned()),
        };
        let text = table(&offers, Some(&offers[0]), &trial);
        let rows: Vec<&str> = text.lines().skip(1).map(str::trim_end).collect();
        assert!(rows[0].contains("mlx5_0") && rows[0].ends_with("usable, chosen"), "{text}");
        assert!(rows[1].contains("mlx5_1") && rows[1].ends_with("not usable: no link"), "{text}");
    }
}
