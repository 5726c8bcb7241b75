use super::*;

#[test]
fn a_buffer_holds_what_it_is_given_and_its_surroundings_are_intact() {
    for len in [0, 1, 17, 4095, 4096, 4097, 12_288] {
        for slack in [0, 1, 64, 4096] {
            let bytes: Vec<u8> = (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let buffer = Buffer::holding(&bytes, slack).unwrap();
            assert_eq!(buffer.bytes(), bytes);
            assert_eq!(buffer.intact(), Ok(()), "{len} {slack}");
            assert_eq!(buffer.guarded(), cfg!(unix));
        }
    }
}

#[test]
fn the_end_lies_where_a_page_begins() {
    let buffer = Buffer::new(100, 28).unwrap();
    if buffer.guarded() {
        assert_eq!((buffer.bytes().as_ptr_range().end as usize + 28) % 4096, 0);
    }
    assert_eq!(buffer.bytes().as_ptr() as usize % 4, 0);
}

#[test]
fn writes_outside_are_found_and_told() {
    let mut buffer = Buffer::new(10, 6).unwrap();
    let (start, end) = (buffer.start, buffer.start + 10);
    for at in 0..6 {
        let kept = std::mem::replace(&mut buffer.memory.bytes_mut()[end + at], 0);
        assert_eq!(buffer.intact(), Err(Damage::After(at)));
        buffer.memory.bytes_mut()[end + at] = kept;
    }
    for at in 1..=40 {
        let kept = std::mem::replace(&mut buffer.memory.bytes_mut()[start - at], 0);
        assert_eq!(buffer.intact(), Err(Damage::Before(at)));
        buffer.memory.bytes_mut()[start - at] = kept;
    }
    assert_eq!(buffer.intact(), Ok(()));
    buffer.bytes_mut().fill(0);
    assert_eq!(buffer.intact(), Ok(()));
}

#[test]
fn a_new_buffer_is_nan_in_every_float_format() {
    let buffer = Buffer::new(512, 0).unwrap();
    assert!(buffer.f32s().iter().all(|number| number.is_nan() && is_pattern(number.to_bits())));
    assert!([0, 0x7FC0_0000, 0x7FC1_7FC1, u32::MAX].into_iter().all(|bits| !is_pattern(bits)));
    for word in buffer.bytes().chunks_exact(2) {
        let word = u16::from_le_bytes([word[0], word[1]]);
        assert!(word & 0x7C00 == 0x7C00 && word & 0x03FF != 0, "no NaN of binary16: {word:04x}");
        assert!(word & 0x7F80 == 0x7F80 && word & 0x007F != 0, "no NaN of bfloat16: {word:04x}");
    }
}

#[test]
fn what_was_written_in_between_is_found() {
    let mut buffer = Buffer::new(64, 0).unwrap();
    assert_eq!(buffer.first_written(0..64), None);
    buffer.f32s_mut()[3] = 1.0;
    assert_eq!(buffer.first_written(0..12), None);
    assert_eq!(buffer.first_written(8..64), Some(12));
    assert_eq!(buffer.first_written(16..64), None);
}

#[test]
#[should_panic(expected = "may only be read")]
fn an_operand_is_not_written() {
    Buffer::holding(&[1, 2, 3], 0).unwrap().bytes_mut()[0] = 0;
}

/// What must end the process does so in one of its own: this test, started again.
#[cfg(unix)]
#[test]
fn reads_past_the_end_and_writes_to_operands_end_the_process() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    const DEED: &str = "ASSAY_GUARD_TEST_DEED";
    if let Ok(deed) = std::env::var(DEED) {
        deeds::commit(&deed);
        return;
    }
    let program = std::env::current_exe().unwrap();
    let name = "tests::reads_past_the_end_and_writes_to_operands_end_the_process";
    for (deed, ends) in [("read-last", false), ("read-slack", false), ("read-past", true), ("write-operand", true)] {
        let ended = Command::new(&program).args(["--exact", name]).env(DEED, deed).output().unwrap();
        let signal = ended.status.signal();
        assert_eq!(signal.is_some_and(|signal| [libc::SIGSEGV, libc::SIGBUS].contains(&signal)), ends, "{deed}");
        assert_eq!(ended.status.success(), !ends, "{deed}");
    }
}

#[cfg(unix)]
#[allow(unsafe_code)]
mod deeds {
    use super::Buffer;

    pub(super) fn commit(deed: &str) {
        let buffer = Buffer::holding(&[7; 100], 12).unwrap();
        let start = buffer.bytes().as_ptr();
        let read = |at: usize| {
            // SAFETY: none: what lies past the slack may not be read, and this is what the test wants to see. The
            // first two places are inside the mapping.
            let byte = unsafe { start.add(at).read_volatile() };
            std::hint::black_box(byte);
        };
        match deed {
            "read-last" => read(99),
            "read-slack" => read(111),
            "read-past" => read(112),
            // SAFETY: none: the page is read-only, and the system ends the process.
            "write-operand" => unsafe { start.cast_mut().write_volatile(0) },
            other => panic!("no such deed: {other}"),
        }
    }
}
