//! Work shared among threads whose results come in the order of the work.
//!
//! Work comes in lanes, such as the inputs of a run, and each lane gives pieces. A
//! lane gives one piece at a time, but several lanes can be at it at once. On its way
//! each piece passes once, in the order of its lane, through what the lane knows of
//! the pieces before; the rest of the work is done by any thread at any time. Results
//! come in order of lanes, and within a lane of pieces.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What is done with pieces.
pub(crate) trait Work: Sync {
    /// What gives the pieces of a lane.
    type Source: Send;
    /// What is known of a lane's pieces so far.
    type Joint: Send;
    /// A thread has one of these, so that buffers are allocated once. As it works on
    /// the piece it has just taken, that is still in its cache.
    type Piece: Default;
    /// Whatever else a thread keeps for as long as it runs.
    type Scratch;
    /// What comes of a piece: any number of these.
    type Output: Send;

    /// Takes the next piece of a lane; false when there is none.
    fn take(&self, source: &mut Self::Source, piece: &mut Self::Piece) -> bool;

    /// What can be done before the lane's earlier pieces are known.
    fn prepare(&self, _piece: &mut Self::Piece) {}

    /// What must be done in the order of the lane. Breaks if what follows in the lane
    /// is of no use.
    fn join(&self, joint: &mut Self::Joint, piece: &mut Self::Piece) -> ControlFlow<()>;

    /// Room for a thread to work in.
    fn scratch(&self) -> Self::Scratch;

    /// Gives the outputs of a piece, in order.
    fn work(
        &self,
        piece: &mut Self::Piece,
        scratch: &mut Self::Scratch,
        give: &mut dyn FnMut(Self::Output),
    );

    /// About how much memory an output takes besides its own size.
    fn bytes(output: &Self::Output) -> usize;

    /// Memory that the work on a piece will take, if it is more than is usual.
    fn piece_bytes(&self, _piece: &Self::Piece) -> usize {
        0
    }

    /// Memory that a lane holds between its pieces, if it is more than is usual.
    fn joint_bytes(&self, _joint: &Self::Joint) -> usize {
        0
    }
}

/// Memory for what waits for its turn, and for pieces that are larger than is usual. Beyond that
/// no piece is taken or worked on but the one whose turn it is, so that neither can one slow
/// piece pile up the others, nor has every thread a huge one at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingMax {
    bytes: usize,
}

impl WaitingMax {
    /// An eighth of the memory, within what keeps threads busy and what is of any use.
    pub(crate) fn of(memory_bytes: u64) -> Self {
        const LEAST: u64 = 4 << 20;
        const MOST: u64 = 64 << 20;
        Self {
            bytes: (memory_bytes / 8).clamp(LEAST, MOST) as usize,
        }
    }
}

/// Has all threads of the current pool work on the pieces of `lanes`, and gives the
/// outputs to `finish` in order, until it breaks.
pub(crate) fn in_order<W: Work>(
    work: &W,
    waiting_max: WaitingMax,
    lanes: impl Iterator<Item = (W::Source, W::Joint)> + Send,
    finish: impl FnMut(W::Output) -> ControlFlow<()> + Send,
) {
    let line = Line {
        work,
        state: Mutex::new(State {
            unopened: lanes,
            lanes: VecDeque::new(),
            first_lane: 0,
            open: Vec::new(),
            waiting_bytes: 0,
            waiting_bytes_max: waiting_max.bytes,
            finish: Some(finish),
            stopped: false,
        }),
        changed: Condvar::new(),
    };
    rayon::broadcast(|_| {
        let stop = StopOnPanic(&line);
        line.run();
        std::mem::forget(stop);
    });
}

/// Where a piece stands.
#[derive(Clone, Copy)]
struct Ticket {
    lane: u64,
    piece: u64,
}

struct Line<'a, W: Work, I, F> {
    work: &'a W,
    state: Mutex<State<W, I, F>>,
    changed: Condvar,
}

struct State<W: Work, I, F> {
    unopened: I,
    /// Lanes that are not finished, in order.
    lanes: VecDeque<Lane<W>>,
    /// The number of the first of them.
    first_lane: u64,
    /// The numbers of those that may still give pieces, in order: no more than there are
    /// threads, however many others wait to be finished.
    open: Vec<u64>,
    /// Memory of the outputs that wait, and of the lanes and pieces they belong to: many
    /// that gave nothing add up too. Also of pieces that are worked on, and of what lanes hold
    /// between them.
    waiting_bytes: usize,
    waiting_bytes_max: usize,
    /// `None` while a thread is at it.
    finish: Option<F>,
    stopped: bool,
}

struct Lane<W: Work> {
    /// `None` while a thread is at it.
    source: Option<W::Source>,
    /// `None` while a thread is at it, and when it is of no more use.
    joint: Option<W::Joint>,
    /// Memory that it holds, if it is much.
    joint_bytes: usize,
    /// No piece will be taken any more.
    ended: bool,
    /// Pieces that have been joined.
    joined: u64,
    /// Pieces that have been taken and are not finished, in order.
    pieces: VecDeque<Outputs<W::Output>>,
    /// The number of the first of them.
    first_piece: u64,
}

impl<W: Work> Lane<W> {
    /// Memory of a lane without its outputs.
    const BYTES: usize = size_of::<Self>();

    /// Lets go of what only pieces to come would need, once none can come.
    fn let_go(&mut self) {
        if self.ended {
            self.source = None;
            self.pieces.shrink_to_fit();
            if self.joined == self.first_piece + self.pieces.len() as u64 {
                self.joint = None;
            }
        }
    }
}

struct Outputs<O> {
    waiting: VecDeque<O>,
    /// No more will come.
    done: bool,
}

impl<O> Outputs<O> {
    /// Memory of a piece without its outputs.
    const BYTES: usize = size_of::<Self>();

    fn finish(&mut self) {
        self.done = true;
        self.waiting.shrink_to_fit();
    }
}

/// Memory of an output that waits.
fn bytes<W: Work>(output: &W::Output) -> usize {
    size_of::<W::Output>() + W::bytes(output)
}

/// What a thread can do next.
enum Next {
    /// Take a piece from the lane of this number.
    Take(u64),
    Wait,
    Leave,
}

impl<W, I, F> Line<'_, W, I, F>
where
    W: Work,
    I: Iterator<Item = (W::Source, W::Joint)>,
    F: FnMut(W::Output) -> ControlFlow<()>,
{
    fn run(&self) {
        let mut piece = W::Piece::default();
        let mut scratch = self.work.scratch();
        while let Some(ticket) = self.take(&mut piece) {
            self.work.prepare(&mut piece);
            let Some(held) = self.join(ticket, &mut piece) else {
                return;
            };
            self.work.work(&mut piece, &mut scratch, &mut |output| {
                self.give(ticket, output);
            });
            let mut state = self.lock();
            state.waiting_bytes -= held;
            state.outputs(ticket).finish();
            self.deliver(state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W, I, F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<W, I, F>>) -> MutexGuard<'s, State<W, I, F>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, piece: &mut W::Piece) -> Option<Ticket> {
        let mut state = self.lock();
        loop {
            let number = match state.next() {
                Next::Take(number) => number,
                Next::Wait => {
                    state = self.wait(state);
                    continue;
                }
                Next::Leave => return None,
            };
            let mut source = state.lane(number).source.take()?;
            let ticket = state.add_piece(number);
            drop(state);
            let taken = self.work.take(&mut source, piece);
            state = self.lock();
            let lane = state.lane(number);
            // The lane may have been ended meanwhile.
            if taken && !lane.ended {
                lane.source = Some(source);
                self.changed.notify_all();
                return Some(ticket);
            }
            state.remove_last_piece(number);
            state.end(number);
            self.deliver(state);
            state = self.lock();
        }
    }

    /// Waits for the piece's turn in its lane, and joins it to those before; then, if it is a
    /// large one, until there is room to work on it. Gives the memory that is counted for
    /// that, or nothing if all is to stop.
    fn join(&self, ticket: Ticket, piece: &mut W::Piece) -> Option<usize> {
        let mut state = self.lock();
        let mut joint = loop {
            if state.stopped {
                return None;
            }
            let lane = state.lane(ticket.lane);
            if lane.joined == ticket.piece
                && let Some(joint) = lane.joint.take()
            {
                break joint;
            }
            state = self.wait(state);
        };
        drop(state);
        let joined = self.work.join(&mut joint, piece);
        let held = self.work.piece_bytes(piece);
        let joint_bytes = self.work.joint_bytes(&joint);
        let mut state = self.lock();
        let lane = state.lane(ticket.lane);
        lane.joint = Some(joint);
        lane.joined += 1;
        let joint_bytes_before = std::mem::replace(&mut lane.joint_bytes, joint_bytes);
        if joined.is_break() {
            state.end(ticket.lane);
        } else {
            lane.let_go();
        }
        state.waiting_bytes += joint_bytes;
        state.waiting_bytes -= joint_bytes_before;
        self.changed.notify_all();
        while held > 0 && state.is_full(held) && !state.is_turn(ticket) {
            if state.stopped {
                return None;
            }
            state = self.wait(state);
        }
        state.waiting_bytes += held;
        Some(held)
    }

    fn give(&self, ticket: Ticket, output: W::Output) {
        let mut state = self.lock();
        state.waiting_bytes += bytes::<W>(&output);
        state.outputs(ticket).waiting.push_back(output);
        while state.is_full(0) && !state.is_turn(ticket) && !state.stopped {
            state = self.wait(state);
        }
        self.deliver(state);
    }

    /// Finishes what is next in order, for as long as there is any. One thread at a
    /// time does so; the others leave what they have to it.
    fn deliver<'s>(&'s self, mut state: MutexGuard<'s, State<W, I, F>>) {
        while !state.stopped
            && let Some(mut finish) = state.finish.take()
        {
            let Some(output) = state.pop() else {
                state.finish = Some(finish);
                break;
            };
            drop(state);
            let finished = finish(output);
            state = self.lock();
            state.finish = Some(finish);
            state.stopped |= finished.is_break();
        }
        self.changed.notify_all();
    }
}

impl<W, I, F> State<W, I, F>
where
    W: Work,
    I: Iterator<Item = (W::Source, W::Joint)>,
{
    /// Whether there is no room for so much more.
    fn is_full(&self, more: usize) -> bool {
        self.waiting_bytes + more > self.waiting_bytes_max
    }

    fn next(&mut self) -> Next {
        if self.stopped {
            return Next::Leave;
        }
        for &number in &self.open {
            let lane = &self.lanes[(number - self.first_lane) as usize];
            let is_turn = number == self.first_lane && lane.pieces.is_empty();
            if self.is_full(0) && !is_turn {
                return Next::Wait;
            }
            if lane.source.is_some() {
                return Next::Take(number);
            }
        }
        let is_turn = self.lanes.is_empty();
        if self.open.len() == rayon::current_num_threads() || (self.is_full(0) && !is_turn) {
            return Next::Wait;
        }
        match self.unopened.next() {
            Some((source, joint)) => Next::Take(self.add_lane(source, joint)),
            None if self.open.is_empty() => Next::Leave,
            None => Next::Wait,
        }
    }

    fn add_lane(&mut self, source: W::Source, joint: W::Joint) -> u64 {
        let number = self.first_lane + self.lanes.len() as u64;
        self.lanes.push_back(Lane {
            source: Some(source),
            joint: Some(joint),
            joint_bytes: 0,
            ended: false,
            joined: 0,
            pieces: VecDeque::new(),
            first_piece: 0,
        });
        self.open.push(number);
        self.waiting_bytes += Lane::<W>::BYTES;
        number
    }

    /// No piece will be taken from a lane any more.
    fn end(&mut self, number: u64) {
        self.open.retain(|&open| open != number);
        let lane = self.lane(number);
        lane.ended = true;
        lane.let_go();
    }

    fn add_piece(&mut self, number: u64) -> Ticket {
        self.waiting_bytes += Outputs::<W::Output>::BYTES;
        let lane = self.lane(number);
        lane.pieces.push_back(Outputs {
            waiting: VecDeque::new(),
            done: false,
        });
        Ticket {
            lane: number,
            piece: lane.first_piece + lane.pieces.len() as u64 - 1,
        }
    }

    /// Takes back the piece that was added last, of which nothing came.
    fn remove_last_piece(&mut self, number: u64) {
        self.waiting_bytes -= Outputs::<W::Output>::BYTES;
        self.lane(number).pieces.pop_back();
    }

    fn lane(&mut self, number: u64) -> &mut Lane<W> {
        &mut self.lanes[(number - self.first_lane) as usize]
    }

    fn outputs(&mut self, ticket: Ticket) -> &mut Outputs<W::Output> {
        let lane = self.lane(ticket.lane);
        &mut lane.pieces[(ticket.piece - lane.first_piece) as usize]
    }

    /// Whether all that comes before a piece is finished.
    fn is_turn(&self, ticket: Ticket) -> bool {
        self.first_lane == ticket.lane && self.lanes[0].first_piece == ticket.piece
    }

    /// The output that is next in order, if it is there.
    fn pop(&mut self) -> Option<W::Output> {
        loop {
            let lane = self.lanes.front_mut()?;
            match lane.pieces.front_mut() {
                Some(outputs) => {
                    if let Some(output) = outputs.waiting.pop_front() {
                        self.waiting_bytes -= bytes::<W>(&output);
                        return Some(output);
                    }
                    if !outputs.done {
                        return None;
                    }
                    lane.pieces.pop_front();
                    lane.first_piece += 1;
                    self.waiting_bytes -= Outputs::<W::Output>::BYTES;
                }
                None if lane.ended => {
                    self.waiting_bytes -= Lane::<W>::BYTES + lane.joint_bytes;
                    self.lanes.pop_front();
                    self.first_lane += 1;
                }
                None => return None,
            }
        }
    }
}

/// A thread that panics takes its piece with it. Dropped on the way out, this keeps
/// the others from waiting for it; the pool then hands the panic on.
struct StopOnPanic<'l, 'a, W: Work, I, F>(&'l Line<'a, W, I, F>);

impl<W: Work, I, F> Drop for StopOnPanic<'_, '_, W, I, F> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    const WAITING_MAX: WaitingMax = WaitingMax { bytes: 64 << 20 };

    /// Lanes of so many pieces. Each piece gives its lane, its number and how many its
    /// lane has joined before, as often as its number says.
    struct Numbers {
        /// The lane that ends early, behind this piece.
        breaks: (u64, u64),
        panics: bool,
    }

    #[derive(Default, Clone, Copy)]
    struct Number {
        lane: u64,
        piece: u64,
        joined: u64,
    }

    impl Work for Numbers {
        type Source = (u64, u64, u64);
        type Joint = u64;
        type Piece = Number;
        type Scratch = ();
        type Output = (u64, u64, u64);

        fn take(&self, (lane, next, end): &mut (u64, u64, u64), piece: &mut Number) -> bool {
            if *lane % 3 == 0 {
                std::thread::sleep(Duration::from_micros(200));
            }
            *piece = Number {
                lane: *lane,
                piece: *next,
                joined: 0,
            };
            *next += 1;
            next <= end
        }

        fn join(&self, joined: &mut u64, piece: &mut Number) -> ControlFlow<()> {
            piece.joined = *joined;
            *joined += 1;
            match (piece.lane, piece.piece) == self.breaks {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }

        fn scratch(&self) {}

        fn work(&self, piece: &mut Number, (): &mut (), give: &mut dyn FnMut((u64, u64, u64))) {
            assert!(!self.panics || piece.piece != 3);
            if piece.piece % 7 == 1 {
                std::thread::sleep(Duration::from_micros(300));
            }
            for _ in 0..piece.piece % 3 {
                give((piece.lane, piece.piece, piece.joined));
            }
        }

        /// Large enough for some to have to wait.
        fn bytes(_: &(u64, u64, u64)) -> usize {
            WAITING_MAX.bytes / 4
        }
    }

    fn run(threads: usize, work: &Numbers, lanes: &[u64], most: usize) -> Vec<(u64, u64, u64)> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut finished = vec![];
        let lanes = (0..)
            .zip(lanes)
            .map(|(lane, &pieces)| ((lane, 0, pieces), 0));
        pool.install(|| {
            in_order(work, WAITING_MAX, lanes, |output| {
                finished.push(output);
                match finished.len() == most {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
        });
        finished
    }

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        let lanes = [40, 0, 1, 90, 3, 0, 7, 60];
        let work = Numbers {
            breaks: (3, 50),
            panics: false,
        };
        let mut expected = vec![];
        for (lane, &pieces) in (0..).zip(&lanes) {
            for piece in 0..if lane == 3 { 51 } else { pieces } {
                expected.extend((0..piece % 3).map(|_| (lane, piece, piece)));
            }
        }
        for threads in [1, 2, 5] {
            let all = run(threads, &work, &lanes, 0);
            // Pieces of a lane that was ended may have been taken before.
            let all: Vec<_> = all
                .into_iter()
                .filter(|&(lane, piece, _)| lane != 3 || piece <= 50)
                .collect();
            assert_eq!(all, expected);
            assert_eq!(run(threads, &work, &lanes, 17), expected[..17]);
        }
    }

    /// Lanes of one piece each. The first takes until no other is taken any more.
    #[derive(Default)]
    struct Slow(AtomicUsize);

    impl Work for Slow {
        type Source = Option<usize>;
        type Joint = ();
        type Piece = usize;
        type Scratch = ();
        type Output = (usize, usize);

        fn take(&self, lane: &mut Option<usize>, piece: &mut usize) -> bool {
            lane.take().map(|lane| *piece = lane).is_some()
        }

        fn join(&self, (): &mut (), _: &mut usize) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }

        fn scratch(&self) {}

        fn work(&self, piece: &mut usize, (): &mut (), give: &mut dyn FnMut((usize, usize))) {
            let mut taken = self.0.fetch_add(1, Ordering::Relaxed);
            if *piece == 0 {
                loop {
                    std::thread::sleep(Duration::from_millis(100));
                    let before = std::mem::replace(&mut taken, self.0.load(Ordering::Relaxed));
                    if taken == before {
                        break;
                    }
                }
            }
            give((*piece, taken));
        }

        fn bytes(_: &(usize, usize)) -> usize {
            0
        }
    }

    /// How many pieces were taken before the first was finished.
    fn taken_meanwhile(lanes: usize) -> usize {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        let (mut next, mut taken) = (0, 0);
        pool.install(|| {
            let lanes = (0..lanes).map(|lane| (Some(lane), ()));
            in_order(
                &Slow::default(),
                WAITING_MAX,
                lanes,
                |(lane, taken_so_far)| {
                    assert_eq!(lane, next);
                    next += 1;
                    if lane == 0 {
                        taken = taken_so_far;
                    }
                    ControlFlow::Continue(())
                },
            );
        });
        assert_eq!(next, lanes);
        taken
    }

    #[test]
    fn many_lanes_behind_a_slow_one_are_not_looked_through_again_and_again() {
        let started = std::time::Instant::now();
        taken_meanwhile(200_000);
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }

    #[test]
    fn what_waits_behind_a_slow_lane_is_bounded() {
        let least = size_of::<Lane<Slow>>() + size_of::<Outputs<(usize, usize)>>();
        assert!(taken_meanwhile(1_000_000) <= WAITING_MAX.bytes / least + 2);
    }

    /// Lanes of pieces each of which is more than there is room for.
    #[derive(Default)]
    struct Huge {
        at_work: AtomicUsize,
        most: AtomicUsize,
    }

    impl Work for Huge {
        type Source = usize;
        type Joint = usize;
        type Piece = usize;
        type Scratch = ();
        type Output = usize;

        fn take(&self, left: &mut usize, piece: &mut usize) -> bool {
            *piece = *left;
            *left = left.saturating_sub(1);
            *piece > 0
        }

        fn join(&self, held: &mut usize, piece: &mut usize) -> ControlFlow<()> {
            *held = *piece;
            ControlFlow::Continue(())
        }

        fn scratch(&self) {}

        fn work(&self, piece: &mut usize, (): &mut (), give: &mut dyn FnMut(usize)) {
            let at_work = self.at_work.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(at_work, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            self.at_work.fetch_sub(1, Ordering::SeqCst);
            give(*piece);
        }

        fn bytes(_: &usize) -> usize {
            0
        }

        fn piece_bytes(&self, _: &usize) -> usize {
            WAITING_MAX.bytes + 1
        }

        fn joint_bytes(&self, held: &usize) -> usize {
            held % 2 * WAITING_MAX.bytes
        }
    }

    #[test]
    fn huge_pieces_are_worked_on_one_at_a_time() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(4)
            .build()
            .unwrap();
        let work = Huge::default();
        let mut given = vec![];
        pool.install(|| {
            let lanes = [5, 0, 3, 8].into_iter().map(|pieces| (pieces, 0));
            in_order(&work, WAITING_MAX, lanes, |piece| {
                given.push(piece);
                ControlFlow::Continue(())
            });
        });
        let expected: Vec<usize> = [5, 3, 8].into_iter().flat_map(|n| (1..=n).rev()).collect();
        assert_eq!(given, expected);
        assert_eq!(work.most.into_inner(), 1);
    }

    #[test]
    fn a_panic_does_not_leave_the_others_waiting() {
        let work = Numbers {
            breaks: (9, 9),
            panics: true,
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(2, &work, &[1000, 1000], 0);
        }));
        assert!(result.is_err());
    }
}
