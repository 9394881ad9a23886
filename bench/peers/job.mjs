/*
 * The job of every subject. A process is a root, three parallel steps that do nothing, and a join that runs when the three
 * are done and completes the process. Each process is submitted by its own call, all calls at once; the submission, each of
 * the four pieces of work and the end are stored before the subject continues. The time runs from the first submission
 * until all processes are done.
 */

const counted = { steps: 0, joins: 0 }

/** The work of a step: none. It is counted, so that a subject that skips some is rejected. */
export function step() {
  counted.steps++
  return 1
}

/** The work of a join. */
export function join() {
  counted.joins++
  return 1
}

/**
 * Does an eighth of the job as a warm-up, then the job, and prints its duration: `{"ms":…}`.
 *
 * @param {number} processes
 * @param {(processes: number, label: string) => Promise<void>} work resolves when all of them are done
 */
export async function measure(processes, work) {
  endWithParent()
  await work(Math.ceil(processes / 8), 'warm-up')
  Object.assign(counted, { steps: 0, joins: 0 })
  const startMs = performance.now()
  await work(processes, 'measured')
  const ms = performance.now() - startMs
  const { steps, joins } = counted
  if (steps !== 3 * processes || joins !== processes) throw new Error(`${steps} steps, ${joins} joins of ${processes}`)
  console.log(JSON.stringify({ ms }))
}

/** Clients retry forever if their server is gone. */
function endWithParent() {
  process.stdin.on('end', () => process.exit(1)).resume()
  process.stdin.unref?.()
}

/**
 * Makes `many` calls, all at once.
 *
 * @template T
 * @param {number} many
 * @param {(at: number) => Promise<T>} call
 */
export function together(many, call) {
  return Promise.all(Array.from({ length: many }, (_, at) => call(at)))
}

/** Resolves when `tell` was called this many times. */
export function countdown(/** @type {number} */ many) {
  const { promise, resolve } = Promise.withResolvers()
  let left = many
  const tell = () => {
    left--
    if (left === 0) resolve(undefined)
  }
  return { promise, tell }
}
