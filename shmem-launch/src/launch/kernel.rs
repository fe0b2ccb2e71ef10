//! What the kernel says of a process that the launcher watches (`/proc/PID/stat`, proc(5)).

use super::report::Standing;

/// `PF_SIGNALED` of the kernel: a signal has ended the thread.
const SIGNALED: u32 = 0x400;

/// Where the process stands if it does nothing of its own.
pub(crate) fn held(pid: u32) -> Option<Standing> {
    read(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn read(stat: &str) -> Option<Standing> {
    // The second field is a name in parentheses, and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let (state, flags) = (fields.next()?, fields.nth(5)?.parse::<u32>().ok()?);
    match state {
        // It is over, and has not been waited for.
        "Z" | "X" => None,
        _ if flags & SIGNALED != 0 => Some(Standing::Dying),
        "T" => Some(Standing::Stopped),
        "t" => Some(Standing::Traced),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_held_by_what_the_kernel_says() {
        let stat =
            |state: &str, flags: u32| read(&format!("7 (a) T b) {state} 1 7 7 0 -1 {flags} 132 0 0\n"));
        assert_eq!([stat("S", 0x40_0000), stat("R", 0), stat("Z", 0x404)], [None, None, None]);
        assert_eq!([stat("T", 0), stat("t", 0)], [Some(Standing::Stopped), Some(Standing::Traced)]);
        assert_eq!([stat("D", 0x40_0604), stat("T", 0x400)], [const { Some(Standing::Dying) }; 2]);
        assert_eq!([read(""), read("7 (a"), read("7 (a) S 1")], [const { None }; 3]);
        assert_eq!(held(std::process::id()), None);
    }
}
