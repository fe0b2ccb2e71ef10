//! What a launcher on another host is told through its standard input: one line.

use std::net::SocketAddr;
use std::time::Duration;

use super::greeting::Secret;

/// Counted up when the line changes.
const VERSION: &str = "shmrun-1";

/// Most bytes of the line.
pub(super) const LONGEST: u64 = 16 << 10;

/// Which of the job's hosts it is, where the user's launcher listens, and what they know each other by.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) secret: Secret,
    pub(super) host: u32,
    /// After how much silence the connection is lost.
    pub(super) silence: Option<Duration>,
    /// To be tried in this order.
    pub(super) addresses: Vec<SocketAddr>,
}

impl Letter {
    pub(super) fn text(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let silence = self.silence.map_or(0, |silence| silence.as_millis());
        format!("{VERSION} {} {} {silence} {}\n", self.secret.text(), self.host, addresses.join(","))
    }

    /// `None`: somebody else's line.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.strip_suffix('\n')?.split(' ');
        if words.next()? != VERSION {
            return None;
        }
        let letter = Self {
            secret: Secret::parse(words.next()?)?,
            host: words.next()?.parse().ok()?,
            silence: Some(words.next()?.parse().ok()?).filter(|&ms| ms > 0).map(Duration::from_millis),
            addresses: words.next()?.split(',').map(|one| one.parse().ok()).collect::<Option<_>>()?,
        };
        words.next().is_none().then_some(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_understood_and_its_parts_are_not() {
        let letter = Letter {
            secret: Secret::throw().unwrap(),
            host: 7,
            silence: Some(Duration::from_millis(1500)),
            addresses: vec!["10.0.0.1:4000".parse().unwrap(), "[fd00::1]:5".parse().unwrap()],
        };
        let text = letter.text();
        let same = Letter::parse(&text).unwrap();
        assert_eq!(same.text(), text);
        assert_eq!((same.host, same.silence, same.addresses), (7, letter.silence, letter.addresses));
        for wrong in [&text[1..], &text[..text.len() - 1], "", "\n", &text.replacen(' ', "  ", 1)] {
            assert!(Letter::parse(wrong).is_none(), "{wrong}");
        }
    }
}
