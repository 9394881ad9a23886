import { errorProblem } from '../../cli/error-problem.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { EndsWith, type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { DEFAULT_LEASE_WAIT_MS, leaseReport, openStoreFor } from '../../cli/store.ts'
import { takeAsSigterm } from '../../process/as-sigterm.ts'
import { findProgram } from '../../process/find-program.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { workLoop } from '../../worker/loop.ts'
import { programWork } from '../../worker/program/run.ts'
import type { GivenUp, LoopOptions, LoopReport } from '../../worker/types.ts'
import { execResult, notStarted } from '../exec/outcome.ts'
import { DEFAULT_GRACE_MS, environment, jobText, NOT_THE_COMMAND, ownProblem, successorsIn } from '../exec/run.ts'
import type { WorkCommandOptions } from './options.ts'
import { reportText, WorkReporter } from './output.ts'

/** Works until drained, or until `--once` or `--until-empty` ends it. */
export async function work(options: WorkCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { topic: _, ...flags } = options
  const successors = await successorsIn(flags, runtime)
  const [program] = options.command
  const found = findProgram(program, runtime.env.PATH)
  if (found.kind !== 'found') return notStarted(program, found.kind === 'missing' ? 'ENOENT' : 'EACCES')
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const reporter = new WorkReporter(options, output, runtime)
  const perform = programWork(options.command, {
    ...successors,
    store,
    env: environment(runtime),
    stdin: options.stdin === undefined ? 'ignore' : job => jobText(store, job),
    fault: reporter.fault,
    stdout: options.output === 'ndjson' ? 'stderr' : 'inherit',
    stderr: chunk => runtime.stderr.write(chunk),
    graceMs: options.grace ?? DEFAULT_GRACE_MS,
    ended: reporter.ran,
  })
  using _signals = takeAsSigterm()
  try {
    const report = await workLoop(store, loopOptions(options, reporter, runtime), async job => {
      await reporter.room()
      return perform(job)
    })
    await reporter.flush()
    return await resultOf(store, report, reporter, options, output, runtime)
  } catch (error) {
    if (!options.once || error instanceof EndsWith) throw error
    return ownProblem(errorProblem(error, runtime))
  }
}

function loopOptions(options: WorkCommandOptions, reporter: WorkReporter, runtime: Runtime): LoopOptions {
  const { name, topic, match, partition, concurrency, maxAttempts, backoff, maxIdle, once, defer } = options
  const { untilEmpty, claim, reason, write } = options
  const { env, actor, pid, signal } = runtime
  return {
    names: name,
    owner: options.owner ?? (env.LEASECTL_OWNER || undefined) ?? `${options.by ?? actor}:${pid}`,
    by: options.by ?? actor,
    leaseWaitMs: options.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
    drain: signal,
    observe: reporter.observe,
    ...defined({ topic, match, partition, concurrency, maxAttempts, backoff, maxIdleMs: maxIdle, deferMs: defer }),
    ...(once ? { until: 'once' } : untilEmpty ? { until: 'until-empty' } : {}),
    ...defined({ claimMs: claim, why: reason, write }),
    ...leaseReport(options, runtime),
  }
}

async function resultOf(
  store: StreamStore,
  report: LoopReport,
  { last, givenUp: failed }: WorkReporter,
  options: WorkCommandOptions,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  await output.say(reportText(report))
  if (options.once) {
    // The faults were reported already.
    if (last === undefined && report.faults > 0) throw new EndsWith(NOT_THE_COMMAND)
    if (last === undefined) return failed && ownProblem(givenUpProblem(failed))
    const { stream, event } = last.outcome.job
    const { command } = options
    return ownProblem(await execResult(store, { stream, event: event.id, command }, last, output, runtime))
  }
  if (!options.untilEmpty) throw new EndsWith(0)
  const { again, lost, givenUp, released, faults, locked } = report
  if (report.failed + again + lost + givenUp + released + faults + locked === 0) return undefined
  return problem('batch-incomplete', 'not all events ended successfully', { applied: 'yes' })
}

function givenUpProblem({ stream, event, message }: GivenUp): Problem {
  const exit = exitOfRefusal('no-attempts')
  return problem('no-attempts', `${stream}: ${message}`, { exit, stream, event, applied: 'yes' })
}
