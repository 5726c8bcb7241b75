//! Jobs, a few at a time.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does all jobs, `workers` at a time, and returns what came of them in the order of the jobs.
pub(crate) fn side_by_side<'j, J: Sync, D: Send>(
    workers: usize,
    jobs: &'j [J],
    work: impl Fn(&'j J) -> D + Sync,
) -> Vec<D> {
    let Ok(done) = with_tools(workers, jobs, || Ok::<_, Infallible>(()), |(), job| work(job));
    done
}

/// The same, where each worker needs something of its own to work with.
///
/// # Errors
///
/// Why a worker has no tools; no more jobs are begun then.
pub(crate) fn with_tools<'j, J: Sync, T, D: Send, E: Send>(
    workers: usize,
    jobs: &'j [J],
    tools: impl Fn() -> Result<T, E> + Sync,
    work: impl Fn(&mut T, &'j J) -> D + Sync,
) -> Result<Vec<D>, E> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Ok(Vec::with_capacity(jobs.len())));
    let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                let mut tools = match tools() {
                    Ok(tools) => tools,
                    Err(why) => {
                        next.store(jobs.len(), Ordering::Relaxed);
                        *lock() = Err(why);
                        return;
                    }
                };
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(i) else { break };
                    let result = work(&mut tools, job);
                    if let Ok(done) = &mut *lock() {
                        done.push((i, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    done.sort_by_key(|&(i, _)| i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_jobs_is_in_their_order() {
        let jobs: Vec<usize> = (0..100).collect();
        let doubled: Vec<usize> = jobs.iter().map(|job| 2 * job).collect();
        for workers in [0, 1, 3, 200] {
            assert_eq!(side_by_side(workers, &jobs, |job| 2 * job), doubled);
        }
        assert!(side_by_side(3, &[], |job: &usize| *job).is_empty());
    }

    #[test]
    fn each_worker_has_its_own_tools() {
        let made = AtomicUsize::new(0);
        let tools = || Ok::<_, Infallible>((made.fetch_add(1, Ordering::Relaxed), 0));
        let work = |(worker, count): &mut (usize, usize), _: &()| {
            *count += 1;
            (*worker, *count)
        };
        let Ok(done) = with_tools(3, &[(); 50], tools, work);
        let counted: usize =
            (0..3).filter_map(|worker| done.iter().filter(|one| one.0 == worker).map(|one| one.1).max()).sum();
        assert_eq!((made.into_inner(), counted), (3, 50));
    }

    #[test]
    fn without_tools_nothing_is_done() {
        let done = with_tools(2, &[1, 2, 3], || Err::<(), _>("none"), |(), job| *job);
        assert_eq!(done, Err("none"));
    }
}
