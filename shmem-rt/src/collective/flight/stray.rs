use core::sync::atomic::Ordering;

use super::area::place_of;
use super::mark::Mark;
use crate::collective::disagreement::{RETURNED, Record, disagreement};
use crate::group::{Collective, END, Purpose};

impl Collective<'_> {
    /// Ends the job if another member has started a collective before the meeting in which this PE is, and this one has not:
    /// neither would ever end. Who looks is this PE, if it comes behind one that has started it, as somebody does.
    pub(in crate::collective) fn refuse_strays(&self, purpose: &Purpose<'_>, count: u64) {
        let Self { team, endpoint, .. } = *self;
        let (place, set) = place_of(team.started() + 1);
        let area = &team.system_at(endpoint, endpoint.me()).flights[team.index()][place];
        let mut words = area.met[set].iter().map(|word| Mark::heard(word.load(Ordering::Acquire)));
        let Some(round) = words.position(|mark| mark.is_some_and(|mark| mark.is_before(count))) else {
            return;
        };
        let distance = (1 << round) % team.size();
        let other = team.member((team.rank() + team.size() - distance) % team.size());
        let theirs = Record::Started { team: team.index(), place }.of(&team.job, other);
        let there = theirs.map_or_else(|| "somewhere it did not say".to_owned(), |theirs| theirs.to_string());
        let here = match purpose.operation.name() {
            END => RETURNED.to_owned(),
            _ => self.activity_with_place(purpose, count).to_string(),
        };
        let places = vec![(here, vec![endpoint.me().number()]), (there, vec![other.number()])];
        team.job.abort(1, &disagreement(places))
    }
}
