//! How two launchers of a job make sure of each other.
//!
//! They share a secret: the user's launcher throws dice for it, and passes it to the others through the
//! standard input of the agent. Whoever listens sends a random number; whoever connects answers with one
//! of its own and proves that it knows the secret, over both; only then does the listener prove the same.
//! So a stranger learns a random number and nothing else, an answer that was overheard is worth nothing
//! for another connection, and no proof of one side is one of the other.

use super::frame::{Key, Opener, Sealer};
use crate::launch::random;

/// Counted up when messages between launchers change.
const VERSION: u32 = 3;

const MAGIC: [u8; 4] = *b"shmr";

/// Bytes of the listener's first message.
pub(super) const CHALLENGE: usize = 32;

/// Bytes of the answer to it.
pub(super) const ANSWER: usize = 4 + 4 + 4 + 32 + 32;

/// Bytes of the listener's proof.
pub(super) const PROOF: usize = 32;

/// The job's secret.
#[derive(Clone)]
pub(super) struct Secret(Key);

/// What a connection is kept by.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) sealer: Sealer,
    pub(super) opener: Opener,
}

/// Not one of the job's launchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stranger;

impl Secret {
    pub(super) fn throw() -> std::io::Result<Self> {
        Ok(Self(random()?))
    }

    /// From hexadecimal digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|bytes| Self(*bytes.as_bytes()))
    }

    /// In hexadecimal digits.
    pub(super) fn text(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// What host `host` answers to a challenge, and what it expects then.
    pub(super) fn answer(
        &self,
        host: u32,
        challenge: &[u8; CHALLENGE],
    ) -> std::io::Result<([u8; ANSWER], Expected)> {
        let own: [u8; 32] = random()?;
        let transcript = Transcript { host, challenge: *challenge, own };
        let proof = self.hash("the answer", &transcript);
        let fields: [&[u8]; 5] =
            [&MAGIC, &VERSION.to_le_bytes(), &host.to_le_bytes(), &own, proof.as_bytes()];
        let mut answer = [0; ANSWER];
        answer.iter_mut().zip(fields.concat()).for_each(|(to, from)| *to = from);
        Ok((answer, Expected { secret: self.clone(), transcript }))
    }

    /// Which host has answered to a challenge; with the listener's proof and the connection.
    pub(super) fn check(
        &self,
        challenge: &[u8; CHALLENGE],
        answer: &[u8; ANSWER],
    ) -> Result<(u32, [u8; PROOF], Session), Stranger> {
        let (head, rest) = answer.split_at(8);
        let (host, rest) = rest.split_at(4);
        let (own, theirs) = rest.split_at(32);
        let host = u32::from_le_bytes(host.try_into().map_err(|_| Stranger)?);
        let own = own.try_into().map_err(|_| Stranger)?;
        let theirs = blake3::Hash::from_bytes(theirs.try_into().map_err(|_| Stranger)?);
        let transcript = Transcript { host, challenge: *challenge, own };
        if self.hash("the answer", &transcript) != theirs || head != [MAGIC, VERSION.to_le_bytes()].concat() {
            return Err(Stranger);
        }
        let proof = *self.hash("the proof", &transcript).as_bytes();
        let session = Session {
            sealer: Sealer::new(*self.hash("down", &transcript).as_bytes()),
            opener: Opener::new(*self.hash("up", &transcript).as_bytes()),
        };
        Ok((host, proof, session))
    }

    fn hash(&self, purpose: &str, transcript: &Transcript) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(purpose.len() as u32).to_le_bytes()).update(purpose.as_bytes());
        hasher.update(&VERSION.to_le_bytes()).update(&transcript.host.to_le_bytes());
        hasher.update(&transcript.challenge).update(&transcript.own).finalize()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// What both sides have said.
#[derive(Clone, Debug)]
struct Transcript {
    host: u32,
    challenge: [u8; CHALLENGE],
    own: [u8; 32],
}

/// What the listener has to prove.
#[derive(Debug)]
pub(super) struct Expected {
    secret: Secret,
    transcript: Transcript,
}

impl Expected {
    /// The connection, if the listener has proved it.
    pub(super) fn check(self, proof: [u8; PROOF]) -> Result<Session, Stranger> {
        let Self { secret, transcript } = self;
        if secret.hash("the proof", &transcript) != blake3::Hash::from_bytes(proof) {
            return Err(Stranger);
        }
        Ok(Session {
            sealer: Sealer::new(*secret.hash("up", &transcript).as_bytes()),
            opener: Opener::new(*secret.hash("down", &transcript).as_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_knows_the_secret_is_let_in_and_both_have_the_same_keys() {
        let secret = Secret::throw().unwrap();
        let challenge = random().unwrap();
        let (answer, expected) = Secret::parse(&secret.text()).unwrap().answer(3, &challenge).unwrap();
        let (host, proof, mut ours) = secret.check(&challenge, &answer).unwrap();
        assert_eq!(host, 3);
        let mut theirs = expected.check(proof).unwrap();
        theirs.opener.feed(&ours.sealer.seal(b"down"));
        assert_eq!(theirs.opener.open(), Ok(Some(b"down".to_vec())));
        let up = theirs.sealer.seal(b"up");
        ours.opener.feed(&up);
        assert_eq!(ours.opener.open(), Ok(Some(b"up".to_vec())));
        theirs.opener.feed(&up);
        assert!(theirs.opener.open().is_err(), "reflected");
    }

    #[test]
    fn another_secret_and_an_answer_from_another_time_are_refused() {
        let (secret, other) = (Secret::throw().unwrap(), Secret::throw().unwrap());
        let challenge = random().unwrap();
        let (answer, _) = other.answer(0, &challenge).unwrap();
        assert_eq!(secret.check(&challenge, &answer).map(|_| ()), Err(Stranger));
        let (overheard, _) = secret.answer(0, &challenge).unwrap();
        assert!(secret.check(&challenge, &overheard).is_ok());
        assert_eq!(secret.check(&random().unwrap(), &overheard).map(|_| ()), Err(Stranger));
    }

    proptest! {
        #[test]
        fn an_answer_that_is_changed_is_refused(at in 0..ANSWER, bit in 0..8u8) {
            let (secret, challenge) = (Secret([1; 32]), [2; CHALLENGE]);
            let (mut answer, expected) = secret.answer(5, &challenge).unwrap();
            let (_, mut proof, _) = secret.check(&challenge, &answer).unwrap();
            answer[at] ^= 1 << bit;
            prop_assert_eq!(secret.check(&challenge, &answer).map(|_| ()), Err(Stranger));
            proof[at % PROOF] ^= 1 << bit;
            prop_assert_eq!(expected.check(proof).map(|_| ()), Err(Stranger));
        }

        #[test]
        fn rubbish_is_refused(answer in prop::collection::vec(any::<u8>(), ANSWER)) {
            let answer = answer.try_into().unwrap();
            prop_assert_eq!(Secret([1; 32]).check(&[2; CHALLENGE], &answer).map(|_| ()), Err(Stranger));
        }
    }
}
