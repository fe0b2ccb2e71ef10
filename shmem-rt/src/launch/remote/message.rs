//! What launchers on different hosts say to each other: [`Order`]s to the one that has PEs, [`Event`]s from
//! it, as bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::Duration;

use crate::launch::Output;
use crate::launch::bind::Bind;
use crate::launch::description::Description;
use crate::launch::fields::{Malformed, Reader, Writer};
use crate::launch::node::{Event, Order};
use crate::launch::output::Kind;
use crate::launch::record::Doing;
use crate::launch::rendezvous::pack;
use crate::launch::report::{Notice, Standing};
use crate::launch::wire::Reply;

/// No field is longer than its message.
const ANY: usize = usize::MAX;

impl Order {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        match self {
            Self::Start(description) => put_description(w.byte(1), description),
            Self::Deliver { packet, last } => w.byte(2).byte((*last).into()).bytes(packet),
            Self::Signal { signal, except } => {
                put_option(w.byte(3).u32(signal.cast_unsigned()), except.as_ref(), put_number)
            }
            Self::Look => w.byte(4),
            Self::Close { pe, kind } => put_number(w.byte(5), pe).byte(number_of(&KINDS, kind)),
            Self::End => w.byte(6),
        };
        w.into_bytes()
    }

    pub(super) fn decode(message: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(message);
        let order = match r.byte()? {
            1 => Self::Start(Box::new(description(&mut r)?)),
            2 => Self::Deliver { last: r.bool()?, packet: r.bytes(ANY)?.to_vec() },
            3 => Self::Signal { signal: r.u32()?.cast_signed(), except: option(&mut r, number)? },
            4 => Self::Look,
            5 => Self::Close { pe: number(&mut r)?, kind: one_of(&KINDS, &mut r)? },
            6 => Self::End,
            _ => return Err(Malformed),
        };
        r.end(order)
    }
}

impl Event {
    /// As one message, or as several where there is no bound to its length.
    pub(super) fn encode(&self) -> Vec<Vec<u8>> {
        let mut w = Writer::default();
        match self {
            Self::Joined { pe, pid } => put_number(w.byte(1), pe).u32(*pid),
            Self::Fenced { values, .. } => {
                let packets = pack(values.clone()).into_iter();
                return packets.map(|packet| [&[2], &packet[..]].concat()).collect();
            }
            Self::Printed { pe, kind, bytes } => {
                put_number(w.byte(3), pe).byte(number_of(&KINDS, kind)).bytes(bytes)
            }
            Self::Aborted { pe, code, message } => {
                put_number(w.byte(4), pe).u32(code.cast_unsigned()).bytes(message.as_bytes())
            }
            Self::Finished { pe } => put_number(w.byte(5), pe),
            Self::Died(notice) => put_notice(w.byte(6), notice),
            Self::StayedAway(notice) => put_notice(w.byte(7), notice),
            Self::Over { pe } => put_number(w.byte(8), pe),
            Self::Broken { pe, what } => put_number(w.byte(9), pe).bytes(what.as_bytes()),
            Self::Standings(standings) => {
                let put = |w, (pe, standing): &(usize, Standing)| put_standing(put_number(w, pe), standing);
                standings.iter().fold(w.byte(10), put)
            }
            Self::Failed { what, code } => w.byte(11).byte(*code).bytes(what.as_bytes()),
            Self::Suspected { pe, message } => put_number(w.byte(12), pe).bytes(message.as_bytes()),
        };
        vec![w.into_bytes()]
    }

    pub(super) fn decode(message: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(message);
        let event = match r.byte()? {
            1 => Self::Joined { pe: number(&mut r)?, pid: r.u32()? },
            2 => match Reply::decode(&message[1..])? {
                Reply::Fenced { values, last } => return Ok(Self::Fenced { values, last }),
                _ => return Err(Malformed),
            },
            3 => {
                let (pe, kind) = (number(&mut r)?, one_of(&KINDS, &mut r)?);
                Self::Printed { pe, kind, bytes: r.bytes(ANY)?.to_vec() }
            }
            4 => {
                let (pe, code) = (number(&mut r)?, r.u32()?.cast_signed());
                Self::Aborted { pe, code, message: r.text(ANY)? }
            }
            5 => Self::Finished { pe: number(&mut r)? },
            6 => Self::Died(notice(&mut r)?),
            7 => Self::StayedAway(notice(&mut r)?),
            8 => Self::Over { pe: number(&mut r)? },
            9 => Self::Broken { pe: number(&mut r)?, what: r.text(ANY)? },
            10 => {
                let mut standings = Vec::new();
                while !r.is_empty() {
                    standings.push((number(&mut r)?, standing(&mut r)?));
                }
                Self::Standings(standings)
            }
            11 => Self::Failed { code: r.byte()?, what: r.text(ANY)? },
            12 => Self::Suspected { pe: number(&mut r)?, message: r.text(ANY)? },
            _ => return Err(Malformed),
        };
        r.end(event)
    }

    /// The PEs it is about.
    pub(in crate::launch) fn pes(&self) -> Vec<usize> {
        match self {
            Self::Joined { pe, .. }
            | Self::Printed { pe, .. }
            | Self::Aborted { pe, .. }
            | Self::Suspected { pe, .. }
            | Self::Finished { pe }
            | Self::Over { pe }
            | Self::Broken { pe, .. } => vec![*pe],
            Self::Died(notice) | Self::StayedAway(notice) => vec![notice.pe],
            Self::Fenced { values, .. } => values.iter().map(|value| value.pe as usize).collect(),
            Self::Standings(standings) => standings.iter().map(|(pe, _)| *pe).collect(),
            Self::Failed { .. } => Vec::new(),
        }
    }
}

const KINDS: [Kind; 2] = [Kind::Out, Kind::Err];
const BINDS: [Bind; 3] = [Bind::None, Bind::Core, Bind::Numa];
const OUTPUTS: [Output; 3] = [Output::Inherit, Output::Tag, Output::Capture];

fn number_of<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|other| other == one).unwrap_or_default() as u8
}

fn one_of<T: Copy>(all: &[T], r: &mut Reader<'_>) -> Result<T, Malformed> {
    all.get(usize::from(r.byte()?)).copied().ok_or(Malformed)
}

fn number(r: &mut Reader<'_>) -> Result<usize, Malformed> {
    r.u32().map(|number| number as usize)
}

fn put_number<'w>(w: &'w mut Writer, number: &usize) -> &'w mut Writer {
    w.u32(*number as u32)
}

fn put_option<'w, T>(
    w: &'w mut Writer,
    value: Option<&T>,
    put: impl FnOnce(&'w mut Writer, &T) -> &'w mut Writer,
) -> &'w mut Writer {
    w.byte(value.is_some().into());
    match value {
        Some(value) => put(w, value),
        None => w,
    }
}

fn option<'a, T>(
    r: &mut Reader<'a>,
    take: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    if r.bool()? { take(r).map(Some) } else { Ok(None) }
}

fn put_list<'w, T>(
    w: &'w mut Writer,
    list: &[T],
    put: impl Fn(&'w mut Writer, &T) -> &'w mut Writer,
) -> &'w mut Writer {
    list.iter().fold(w.u32(list.len() as u32), put)
}

fn list<'a, T>(
    r: &mut Reader<'a>,
    take: impl Fn(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    (0..r.u32()?).map(|_| take(r)).collect()
}

fn put_os<'w>(w: &'w mut Writer, text: &OsString) -> &'w mut Writer {
    w.bytes(text.as_bytes())
}

fn os(r: &mut Reader<'_>) -> Result<OsString, Malformed> {
    r.bytes(ANY).map(|bytes| OsString::from_vec(bytes.to_vec()))
}

fn put_description<'w>(w: &'w mut Writer, d: &Description) -> &'w mut Writer {
    let w = put_list(put_os(w, &d.program), &d.args, put_os);
    let w = put_list(w, &d.environment, |w, (key, value)| put_option(put_os(w, key), value.as_ref(), put_os));
    let w = put_option(w, d.directory.as_ref(), |w, directory| w.bytes(directory.as_os_str().as_bytes()));
    let w = put_list(w.u64(d.number), &d.hosts, |w, host| w.u32(*host)).u32(d.host);
    let w = w.byte(number_of(&BINDS, &d.bind)).byte(number_of(&OUTPUTS, &d.output));
    put_option(w, d.debugger.as_ref(), put_number).byte(d.attach_wait.into())
}

fn description(r: &mut Reader<'_>) -> Result<Description, Malformed> {
    let program = os(r)?;
    let args = list(r, os)?;
    let environment = list(r, |r| Ok((os(r)?, option(r, os)?)))?;
    Ok(Description {
        program,
        args,
        environment,
        directory: option(r, os)?.map(Into::into),
        number: r.u64()?,
        hosts: list(r, Reader::u32)?,
        host: r.u32()?,
        bind: one_of(&BINDS, r)?,
        output: one_of(&OUTPUTS, r)?,
        debugger: option(r, number)?,
        attach_wait: r.bool()?,
    })
}

fn put_notice<'w>(w: &'w mut Writer, n: &Notice) -> &'w mut Writer {
    let w = put_number(w, &n.pe).u32(n.pid).bytes(n.how.as_bytes());
    put_option(w, n.hint.as_ref(), |w, hint| w.bytes(hint.as_bytes())).byte(n.code)
}

fn notice(r: &mut Reader<'_>) -> Result<Notice, Malformed> {
    Ok(Notice {
        pe: number(r)?,
        pid: r.u32()?,
        how: r.text(ANY)?,
        hint: option(r, |r| r.text(ANY))?,
        code: r.byte()?,
    })
}

fn put_standing<'w>(w: &'w mut Writer, standing: &Standing) -> &'w mut Writer {
    match standing {
        Standing::NotJoined => w.byte(1),
        Standing::Meeting => w.byte(2),
        Standing::Ended(how) => w.byte(3).bytes(how.as_bytes()),
        Standing::Lost => w.byte(4),
        Standing::Inside(Doing::Unknown) => w.byte(5),
        Standing::Inside(Doing::Starting) => w.byte(6),
        Standing::Inside(Doing::OwnCode) => w.byte(7),
        Standing::Inside(Doing::Inside(place)) => w.byte(8).bytes(place.as_bytes()),
        Standing::Inside(Doing::Waiting(place, time)) => {
            w.byte(9).bytes(place.as_bytes()).u64(time.as_nanos().try_into().unwrap_or(u64::MAX))
        }
        Standing::Inside(Doing::Finished) => w.byte(10),
        Standing::Inside(Doing::Aborting) => w.byte(11),
    }
}

fn standing(r: &mut Reader<'_>) -> Result<Standing, Malformed> {
    Ok(match r.byte()? {
        1 => Standing::NotJoined,
        2 => Standing::Meeting,
        3 => Standing::Ended(r.text(ANY)?),
        4 => Standing::Lost,
        5 => Standing::Inside(Doing::Unknown),
        6 => Standing::Inside(Doing::Starting),
        7 => Standing::Inside(Doing::OwnCode),
        8 => Standing::Inside(Doing::Inside(r.text(ANY)?)),
        9 => Standing::Inside(Doing::Waiting(r.text(ANY)?, Duration::from_nanos(r.u64()?))),
        10 => Standing::Inside(Doing::Finished),
        11 => Standing::Inside(Doing::Aborting),
        _ => return Err(Malformed),
    })
}

#[cfg(test)]
mod tests;
