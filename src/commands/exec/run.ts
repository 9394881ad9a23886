import { errorProblem } from '../../cli/error-problem.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import { CommandFailed, EndsWith, type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { DEFAULT_LEASE_WAIT_MS, leaseReport, openStoreFor } from '../../cli/store.ts'
import { takeAsSigterm } from '../../process/as-sigterm.ts'
import { findProgram } from '../../process/find-program.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { visibleText } from '../../util/visible-text.ts'
import { type OutputFile, outputFile } from '../../worker/program/output-file.ts'
import type { ProgramSuccessors } from '../../worker/program/result.ts'
import { NO_OUTPUT_FILE, type ProgramRun, programWork } from '../../worker/program/run.ts'
import type { Job } from '../../worker/types.ts'
import { workEvent } from '../../worker/work-event.ts'
import { attributesOf, ownerOf } from '../event/flags.ts'
import { readForks } from '../event/forks.ts'
import type { ExecOptions, ProgramFlags } from './options.ts'
import { execResult, notStarted } from './outcome.ts'

/** Default time between the request to terminate and the kill, ms. */
export const DEFAULT_GRACE_MS = 10_000
/** The exit code for failures of leasectl itself, as most other codes may come from the command. */
export const NOT_THE_COMMAND = 125
/** Exit codes that stay: wrong usage, a command that cannot be run, and signals. */
const OWN_EXITS: readonly number[] = [2, 126, 127, 130, 143]

/** Runs a command as the worker of an event. Ends with the command's exit code. */
export async function exec(options: ExecOptions, runtime: Runtime): Promise<Problem | undefined> {
  const successors = await successorsIn(options, runtime)
  const [program] = options.command
  const found = findProgram(program, runtime.env.PATH)
  if (found.kind !== 'found') return notStarted(program, found.kind === 'missing' ? 'ENOENT' : 'EACCES')
  const file = outputFile()
  if (file === undefined) return ownProblem(notStarted(program, NO_OUTPUT_FILE))
  try {
    return ownProblem(await runCommand(file, options, successors, runtime))
  } catch (error) {
    if (error instanceof EndsWith) throw error
    return ownProblem(errorProblem(error, runtime))
  } finally {
    file.remove()
  }
}

/** Replaces the exit code of a problem, as the codes of the table could be mistaken for the command's. */
export function ownProblem(what: Problem | undefined): Problem | undefined {
  if (what === undefined || OWN_EXITS.includes(what.exit)) return what
  const { exit, facts = [], ...rest } = what
  const fact = ['code', `${exit} in help exit-codes`] as const
  return { ...rest, exit: NOT_THE_COMMAND, tableExit: exit, facts: [...facts, fact] }
}

async function runCommand(
  file: OutputFile,
  options: ExecOptions,
  successors: ProgramSuccessors,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { stream, event, claim, reason, takeOver, write } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  let ran: ProgramRun | undefined
  let fault: unknown
  const work = programWork(options.command, {
    ...successors,
    store,
    output: file,
    env: environment(runtime),
    stdin: options.stdin === undefined ? 'inherit' : job => jobText(store, job),
    fault: (_, error) => {
      fault = error
    },
    stderr: chunk => runtime.stderr.write(chunk),
    graceMs: options.grace ?? DEFAULT_GRACE_MS,
    signal: runtime.signal,
    ended: (_, run) => {
      ran = run
    },
  })
  using _signals = takeAsSigterm()
  const outcome = await workEvent(
    store,
    { stream, event },
    {
      owner: ownerOf(options, runtime),
      by: options.by ?? runtime.actor,
      leaseWaitMs: options.leaseWait ?? DEFAULT_LEASE_WAIT_MS,
      signal: runtime.signal,
      ...defined({ claimMs: claim, why: reason }),
      ...(takeOver ? { takeOver } : {}),
      ...defined({ write }),
      ...leaseReport(options, runtime),
    },
    job => {
      void output.detail(`claimed ${stream} ${event} as ${job.owner}, fence ${job.fence}, attempt ${job.attempt}`)
      if (job.limitWarning !== undefined) {
        void output.say(`${visibleText(stream)} ${visibleText(event)}: ${job.limitWarning}`)
      }
      return work(job)
    },
  )
  if (fault !== undefined) throw fault
  return await execResult(store, options, { outcome, ran }, output, runtime)
}

/** The successors of the event, unless the command itself gives them. */
export async function successorsIn(flags: ProgramFlags, runtime: Runtime): Promise<ProgramSuccessors> {
  const { next, fork, join } = flags
  if (join !== undefined && fork === undefined)
    throw new UsageError('--join needs --fork', { hint: `--fork A,B --join ${join}` })
  return {
    attributes: attributesOf(flags),
    ...defined({ next, forks: fork && (await readForks(fork, runtime)), join }),
  }
}

/** The environment of the command. It includes the context, as the address alone does not give the credentials. */
export function environment({ env, opened }: Runtime): Runtime['env'] {
  const { LEASECTL_CONTEXT: _, ...rest } = env
  return opened?.context === undefined ? rest : { ...rest, LEASECTL_CONTEXT: opened.context }
}

/** The event of a job as JSON, for the stdin of its command. @throws CommandFailed if the stream is gone; the store's faults */
export async function jobText(store: StreamStore, { stream, event }: Job): Promise<string> {
  const [{ readStream }, { shownStream }, { jobJson }, { jsonDocument }] = await Promise.all([
    import('../../ops/read-stream.ts'),
    import('../../formats/stream/view.ts'),
    import('../../formats/stream/json.ts'),
    import('../../formats/json.ts'),
  ])
  const view = await readStream(store, stream)
  const found = view?.stream.find(event.id)
  if (view === undefined || found === undefined) throw new CommandFailed(missingProblem(stream))
  return jsonDocument(jobJson(shownStream(view), found))
}
