use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::allocated::most;
use crate::env::Bind;
use crate::launch::Output;
use crate::launch::record::Doing;

/// More bytes than any message takes that comes as a few hundred.
const RUBBISH: usize = 64 << 10;

const KINDS: [Kind; 2] = [Kind::Out, Kind::Err];
const BINDS: [Bind; 4] = [Bind::None, Bind::Core, Bind::Numa, Bind::Share];
const OUTPUTS: [Output; 3] = [Output::Inherit, Output::Tag, Output::Capture];

fn os_text() -> impl Strategy<Value = OsString> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
}

fn descriptions() -> impl Strategy<Value = Description> {
    let variable = (os_text(), prop::option::of(os_text()));
    (
        (os_text(), os_text(), prop::collection::vec(os_text(), 0..5), prop::collection::vec(variable, 0..5)),
        (prop::option::of(os_text()), any::<u64>(), prop::collection::vec(any::<u32>(), 0..9), any::<u32>()),
        (
            prop::sample::select(&BINDS[..]),
            prop::sample::select(&OUTPUTS[..]),
            prop::collection::vec(prop::collection::vec(prop::sample::select(&KINDS[..]), 0..3), 0..3),
        ),
        (prop::option::of(0..9usize), any::<[bool; 2]>()),
    )
        .prop_map(|(what, place, how, (debugger, [attach_wait, pretends]))| {
            let (program, arg0, args, environment) = what;
            let (bind, output, pipes) = how;
            let (directory, number, hosts, host) = place;
            Description {
                program,
                arg0,
                args,
                environment,
                directory,
                number,
                hosts,
                host,
                pretends,
                bind,
                output,
                pipes,
                debugger,
                attach_wait,
            }
        })
}

fn orders() -> impl Strategy<Value = Order> {
    let kind = || prop::sample::select(&KINDS[..]);
    prop_oneof![
        descriptions().prop_map(|description| Order::Start(Box::new(description))),
        (prop::collection::vec(any::<u8>(), 0..200), any::<bool>())
            .prop_map(|(packet, last)| Order::Deliver { packet, last }),
        (any::<i32>(), prop::option::of(0..9usize))
            .prop_map(|(signal, except)| Order::Signal { signal, except }),
        Just(Order::Look),
        (0..9usize, kind()).prop_map(|(pe, kind)| Order::Close { pe, kind }),
        (kind(), any::<bool>()).prop_map(|(kind, held)| Order::Hold { kind, held }),
        Just(Order::End),
    ]
}

fn standings() -> impl Strategy<Value = Standing> {
    let inside = prop_oneof![
        Just(Doing::Unknown),
        Just(Doing::Starting),
        Just(Doing::OwnCode),
        ".{0,20}".prop_map(Doing::Inside),
        (".{0,20}", any::<u64>()).prop_map(|(place, t)| Doing::Waiting(place, Duration::from_nanos(t))),
        Just(Doing::Finished),
        Just(Doing::Aborting),
    ];
    prop_oneof![
        Just(Standing::NotJoined),
        Just(Standing::Meeting),
        Just(Standing::Lost),
        Just(Standing::Stopped),
        Just(Standing::Traced),
        Just(Standing::Dying),
        ".{0,20}".prop_map(Standing::Ended),
        inside.prop_map(Standing::Inside),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    let pe = || 0..9usize;
    let notice = || {
        (pe(), any::<u32>(), ".{0,20}", prop::option::of(".{0,20}"), any::<u8>())
            .prop_map(|(pe, pid, how, hint, code)| Notice { pe, pid, how, hint, code })
    };
    let bytes = || prop::collection::vec(any::<u8>(), 0..200);
    let value = (any::<u32>(), ".{0,40}", bytes()).prop_map(|(pe, key, value)| Value { pe, key, value });
    prop_oneof![
        (pe(), any::<u32>()).prop_map(|(pe, pid)| Event::Joined { pe, pid }),
        prop::collection::vec(value, 0..9).prop_map(|values| Event::Fenced { values, last: true }),
        (pe(), prop::sample::select(&KINDS[..]), bytes()).prop_map(|(pe, kind, bytes)| Event::Printed {
            pe,
            kind,
            bytes
        }),
        (pe(), any::<i32>(), ".{0,20}").prop_map(|(pe, code, message)| Event::Aborted { pe, code, message }),
        pe().prop_map(|pe| Event::Finished { pe }),
        notice().prop_map(Event::Died),
        notice().prop_map(Event::StayedAway),
        pe().prop_map(|pe| Event::Over { pe }),
        (pe(), ".{0,20}").prop_map(|(pe, what)| Event::Broken { pe, what }),
        prop::collection::vec((pe(), standings()), 0..9).prop_map(Event::Standings),
        (".{0,20}", any::<u8>()).prop_map(|(what, code)| Event::Failed { what, code }),
        (pe(), ".{0,20}").prop_map(|(pe, message)| Event::Suspected { pe, message }),
        ".{0,20}".prop_map(|what| Event::Remarked { what }),
    ]
}

proptest! {
    #[test]
    fn orders_survive_the_way(order in orders()) {
        let message = order.encode();
        prop_assert_eq!(Order::decode(&message), Ok(order));
        prop_assert_eq!(Order::decode(&message[..message.len() - 1]), Err(Malformed), "cut short");
        prop_assert_eq!(Order::decode(&[&message[..], &[0]].concat()), Err(Malformed), "too long");
    }

    #[test]
    fn events_survive_the_way(event in events()) {
        let messages = event.encode();
        prop_assert_eq!(messages.len(), 1);
        prop_assert_eq!(Event::decode(&messages[0]), Ok(event));
        prop_assert_eq!(Event::decode(&[&messages[0][..], &[0]].concat()), Err(Malformed), "too long");
    }

    #[test]
    fn rubbish_is_refused_or_means_what_it_says(kind in 0..14u8, mut rubbish in prop::collection::vec(any::<u8>(), 0..300)) {
        rubbish.insert(0, kind);
        let ((order, event), most) = most(|| (Order::decode(&rubbish), Event::decode(&rubbish)));
        prop_assert!(most < RUBBISH, "{most} bytes");
        if let Ok(order) = order {
            prop_assert_eq!(order.encode(), rubbish.clone());
        }
        // Values go with the word that they are the last ones.
        if let Ok(event) = event && !matches!(event, Event::Fenced { last: false, .. }) {
            prop_assert_eq!(event.encode().concat(), rubbish);
        }
    }
}

/// More than a packet holds goes in several, and only the last one ends the fence.
#[test]
fn values_of_many_pes_go_in_pieces() {
    let values: Vec<Value> =
        (0..9).map(|pe| Value { pe, key: "k".into(), value: vec![pe as u8; 40 << 10] }).collect();
    let messages = Event::Fenced { values: values.clone(), last: true }.encode();
    let mut seen = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let Ok(Event::Fenced { values, last }) = Event::decode(message) else { panic!("{message:?}") };
        assert_eq!(last, i + 1 == messages.len());
        seen.extend(values);
    }
    assert_eq!(seen, values);
}
