//! What a PE and its launcher say to each other.
//!
//! Each message is one packet of a `SOCK_SEQPACKET` socket: a byte that says which message it is,
//! then its fields; numbers are little-endian, texts and bytes follow their length (`u32`).
//! Descriptors travel beside the bytes of a packet. Nothing that arrives is trusted: lengths are
//! checked, and a packet must be used up exactly.

use super::fields::{Malformed, Reader, Writer};

/// Counted up when a message changes: the two sides must agree.
pub(crate) const VERSION: u32 = 3;

/// Most bytes of a packet. Below the smallest socket buffer that systems are set up with.
pub(crate) const MAX_PACKET: usize = 64 << 10;

/// Most bytes of a key.
pub(crate) const MAX_KEY: usize = 255;

/// Most bytes of a value.
pub(crate) const MAX_VALUE: usize = 48 << 10;

/// Most bytes of a message for people.
pub(crate) const MAX_TEXT: usize = 16 << 10;

/// Most descriptors that the kernel passes with one packet (`SCM_MAX_FD`).
pub(crate) const MAX_DESCRIPTORS: usize = 253;

/// From a PE to the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// The first message.
    Hello { version: u32, job: u64, pe: u32 },
    /// A value for the next fence.
    Put { key: String, value: Vec<u8> },
    /// Waits for all PEs.
    Fence,
    /// Descriptors for the PEs of this host come with it; `last`: these were all.
    Share { last: bool },
    /// Ends the job.
    Abort { code: i32, message: String },
    /// Ends the job because somebody else seems to be lost, unless it is known by then who is.
    Suspect { message: String },
    /// The PE has left the job in order.
    Finish,
}

/// From the launcher to a PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The PE belongs to a job whose PEs are on these hosts, in the order of their numbers; its lifeline
    /// comes with it.
    Welcome { hosts: Vec<u32> },
    /// The process is not taken for the PE.
    Refused { reason: String },
    /// All PEs have fenced: what they put since the last time; `last`: these were all.
    Fenced { values: Vec<Value>, last: bool },
    /// All PEs have shared: so many descriptors will follow.
    Sharing { descriptors: u32 },
    /// Descriptors of `pe` come with it; `last`: these were all of its.
    Shared { pe: u32, last: bool },
}

/// What `pe` put under `key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) pe: u32,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
}

impl Value {
    /// Bytes it takes in a packet.
    pub(crate) fn encoded_len(&self) -> usize {
        12 + self.key.len() + self.value.len()
    }
}

impl Request {
    /// As a packet.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::Hello { version, job, pe } => w.byte(1).u32(*version).u64(*job).u32(*pe),
            Self::Put { key, value } => w.byte(2).bytes(key.as_bytes()).bytes(value),
            Self::Fence => w.byte(3),
            Self::Share { last } => w.byte(4).byte((*last).into()),
            Self::Abort { code, message } => w.byte(5).u32(code.cast_unsigned()).bytes(message.as_bytes()),
            Self::Finish => w.byte(6),
            Self::Suspect { message } => w.byte(7).bytes(message.as_bytes()),
        };
        w.into_bytes()
    }

    /// From a packet.
    pub(crate) fn decode(packet: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(packet);
        let request = match r.byte()? {
            1 => Self::Hello { version: r.u32()?, job: r.u64()?, pe: r.u32()? },
            2 => Self::Put { key: r.text(MAX_KEY)?, value: r.bytes(MAX_VALUE)?.to_vec() },
            3 => Self::Fence,
            4 => Self::Share { last: r.bool()? },
            5 => Self::Abort { code: r.u32()?.cast_signed(), message: r.text(MAX_TEXT)? },
            6 => Self::Finish,
            7 => Self::Suspect { message: r.text(MAX_TEXT)? },
            _ => return Err(Malformed),
        };
        r.end(request)
    }
}

impl Reply {
    /// As a packet.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::Welcome { hosts } => {
                w.byte(1);
                hosts.iter().for_each(|host| {
                    w.u32(*host);
                });
                &mut w
            }
            Self::Refused { reason } => w.byte(2).bytes(reason.as_bytes()),
            Self::Fenced { values, last } => {
                w.byte(3).byte((*last).into());
                for v in values {
                    w.u32(v.pe).bytes(v.key.as_bytes()).bytes(&v.value);
                }
                &mut w
            }
            Self::Sharing { descriptors } => w.byte(4).u32(*descriptors),
            Self::Shared { pe, last } => w.byte(5).u32(*pe).byte((*last).into()),
        };
        w.into_bytes()
    }

    /// From a packet.
    pub(crate) fn decode(packet: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(packet);
        let reply = match r.byte()? {
            1 => {
                let mut hosts = Vec::new();
                while !r.is_empty() {
                    hosts.push(r.u32()?);
                }
                Self::Welcome { hosts }
            }
            2 => Self::Refused { reason: r.text(MAX_TEXT)? },
            3 => {
                let last = r.bool()?;
                let mut values = Vec::new();
                while !r.is_empty() {
                    let (pe, key) = (r.u32()?, r.text(MAX_KEY)?);
                    values.push(Value { pe, key, value: r.bytes(MAX_VALUE)?.to_vec() });
                }
                Self::Fenced { values, last }
            }
            4 => Self::Sharing { descriptors: r.u32()? },
            5 => Self::Shared { pe: r.u32()?, last: r.bool()? },
            _ => return Err(Malformed),
        };
        r.end(reply)
    }
}

/// The beginning of `text` that fits a message.
pub(crate) fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..300)
    }

    fn requests() -> impl Strategy<Value = Request> {
        prop_oneof![
            any::<(u32, u64, u32)>().prop_map(|(version, job, pe)| Request::Hello { version, job, pe }),
            (".{0,40}", bytes()).prop_map(|(key, value)| Request::Put { key, value }),
            Just(Request::Fence),
            any::<bool>().prop_map(|last| Request::Share { last }),
            (any::<i32>(), ".{0,300}").prop_map(|(code, message)| Request::Abort { code, message }),
            Just(Request::Finish),
            ".{0,300}".prop_map(|message| Request::Suspect { message }),
        ]
    }

    fn replies() -> impl Strategy<Value = Reply> {
        let value = (any::<u32>(), ".{0,40}", bytes()).prop_map(|(pe, key, value)| Value { pe, key, value });
        prop_oneof![
            prop::collection::vec(any::<u32>(), 0..9).prop_map(|hosts| Reply::Welcome { hosts }),
            ".{0,300}".prop_map(|reason| Reply::Refused { reason }),
            (prop::collection::vec(value, 0..20), any::<bool>())
                .prop_map(|(values, last)| Reply::Fenced { values, last }),
            any::<u32>().prop_map(|descriptors| Reply::Sharing { descriptors }),
            any::<(u32, bool)>().prop_map(|(pe, last)| Reply::Shared { pe, last }),
        ]
    }

    proptest! {
        #[test]
        fn requests_survive_the_wire(request in requests()) {
            let packet = request.encode();
            prop_assert_eq!(Request::decode(&packet), Ok(request));
            prop_assert_eq!(Request::decode(&packet[..packet.len() - 1]), Err(Malformed), "cut short");
            prop_assert_eq!(Request::decode(&[&packet[..], &[0]].concat()), Err(Malformed), "too long");
        }

        #[test]
        fn replies_survive_the_wire(reply in replies()) {
            let packet = reply.encode();
            prop_assert_eq!(Reply::decode(&packet), Ok(reply));
            prop_assert_eq!(Reply::decode(&[&packet[..], &[0]].concat()), Err(Malformed), "too long");
        }

        #[test]
        fn junk_is_refused_or_means_what_it_says(kind in 0u8..9, mut junk in bytes()) {
            junk.insert(0, kind);
            if let Ok(request) = Request::decode(&junk) {
                prop_assert_eq!(request.encode(), junk.clone());
            }
            if let Ok(reply) = Reply::decode(&junk) {
                prop_assert_eq!(reply.encode(), junk);
            }
        }

        #[test]
        fn the_length_of_a_value_is_known_before(pe: u32, key in ".{0,40}", value in bytes()) {
            let value = Value { pe, key, value };
            let expected = 2 + value.encoded_len();
            prop_assert_eq!(Reply::Fenced { values: vec![value], last: true }.encode().len(), expected);
        }

        #[test]
        fn a_long_text_is_cut_at_a_character(pad in 0..4usize, text in "[aü☃𝄞]{5000}") {
            let text = "x".repeat(pad) + &text.repeat(2);
            let message = cut(&text);
            prop_assert!(text.starts_with(message));
            prop_assert!(message.len() <= MAX_TEXT && message.len() + 4 > MAX_TEXT.min(text.len()));
        }
    }

    #[test]
    fn the_empty_packet_is_no_message() {
        assert_eq!(Request::decode(&[]), Err(Malformed));
        assert_eq!(Reply::decode(&[]), Err(Malformed));
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused() {
        let long = Request::Put { key: "k".repeat(MAX_KEY + 1), value: vec![] };
        assert_eq!(Request::decode(&long.encode()), Err(Malformed));
        let long = Request::Put { key: "k".into(), value: vec![0; MAX_VALUE + 1] };
        assert_eq!(Request::decode(&long.encode()), Err(Malformed));
    }
}
