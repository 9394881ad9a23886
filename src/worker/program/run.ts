import { resolve } from 'node:path'
import { DataFault } from '../../ops/event-data.ts'
import { type Argv, type ProgramEnd, runProgram } from '../../process/run-program.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { endedByHolder } from '../self-reported.ts'
import type { Job, StopReason, Work, WorkResult } from '../types.ts'
import { isOutOfTime, RELEASE } from '../work-event.ts'
import { type DataFiles, dataVariables, makeDataFiles, readResultFile } from './data-files.ts'
import { type OutputFile, outputFile } from './output-file.ts'
import { type ProgramEnding, type ProgramSuccessors, programEnding } from './result.ts'

/** Reason for not starting a program: its output file could not be created. */
export const NO_OUTPUT_FILE = 'no-output-file'

/** Options for running a program as the work on events. */
export interface ProgramWorkOptions extends ProgramSuccessors {
  readonly store: StreamStore
  /** Environment of the program, to which the variables of its event are added. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard input: that of this process, nothing, or a text about the event. */
  readonly stdin: 'inherit' | 'ignore' | ((job: Job) => Promise<string>)
  /** Called if standard input or the input of the event could not be made: the program is not started. */
  readonly fault: (job: Job, error: unknown) => void
  /** Standard output. Default: the stdout of this process. */
  readonly stdout?: 'inherit' | 'stderr'
  /** Consumes the stderr of the program. */
  readonly stderr: (chunk: Uint8Array) => Promise<void>
  /** Output file for the first event, if already created: its creator removes it if there is no work. */
  readonly output?: OutputFile
  /** Time from the first signal to SIGKILL, ms. */
  readonly graceMs: number
  /** Signal of the worker: its reason names the signal for the program, even after the claim is lost. */
  readonly signal?: AbortSignal
  /** Called with the end of the program, before the result is reported. */
  readonly ended?: (job: Job, run: ProgramRun) => void
}

/** End of a program, beside the result of its event. */
export interface ProgramRun {
  readonly fate: ProgramEnd['fate']
  /** Which of `LEASECTL_OUTPUT` and `LEASECTL_RESULT` is not valid, and why: a clause. */
  readonly badOutput?: string
  /** Why the program was not started: the input of its event is missing or damaged, and the event has failed. */
  readonly badInput?: DataFault
}

/**
 * Work that a program does. Exit code 0 completes the event, or advances it if successors are named, in the options or by the
 * program. Any other end fails it, with the last lines of its stderr. A stopped program that does not exit with 0 releases the
 * event; so does one whose attempt timeout is over, whatever its exit code, and a program that cannot be started, because nothing
 * was tried. A program that ended its event itself is not stopped because of the lost claim.
 */
export function programWork(argv: Argv, options: ProgramWorkOptions): Work {
  let { output: prepared } = options
  return async job => {
    const output = prepared ?? outputFile()
    prepared = undefined
    if (output === undefined) return notStarted(job, NO_OUTPUT_FILE, options)
    const stop = stopFor(job, options)
    try {
      const prepared = await preparedInput(job, output.folder, options)
      if ('op' in prepared) return prepared
      const { stdin, files } = prepared
      const end = await runProgram(argv, {
        env: { ...environmentFor(job, output.path, options), ...dataVariables(files) },
        stdin,
        stdout: options.stdout ?? 'inherit',
        stderr: options.stderr,
        folder: output.folder,
        errorPipe: output.errorPipe,
        signal: stop.signal,
        graceMs: options.graceMs,
      })
      const { ending, msg, badOutput } = endingOf(end, job, { output, files }, options)
      options.ended?.(job, { fate: end.fate, ...defined({ badOutput }) })
      if (msg !== undefined) await job.progress(msg)
      return ending
    } finally {
      stop.over()
      output.remove()
    }
  }
}

function notStarted(job: Job, reason: string, { ended }: ProgramWorkOptions): WorkResult {
  ended?.(job, { fate: { kind: 'not-started', reason } })
  return RELEASE
}

/**
 * Standard input and data files of the program. Without them the program is not started: an input that is missing or damaged
 * fails the event, as no repetition would find it; any other fault releases it.
 */
async function preparedInput(job: Job, folder: string, options: ProgramWorkOptions) {
  const { stdin, ended, fault } = options
  try {
    const text = typeof stdin === 'function' ? { text: await stdin(job) } : stdin
    const files = makeDataFiles(folder, (await job.input())?.bytes)
    return { stdin: text, files }
  } catch (error) {
    if (!(error instanceof DataFault)) {
      fault(job, error)
      return notStarted(job, 'no-input', options)
    }
    ended?.(job, { fate: { kind: 'not-started', reason: 'no-input' }, badInput: error })
    return { op: 'fail', msg: `its input cannot be read: ${error.what}` } as const
  }
}

/** The files by which a program reports its result. */
interface ReportFiles {
  readonly output: OutputFile
  readonly files: DataFiles
}

function endingOf(
  end: ProgramEnd,
  { signal }: Job,
  { output, files }: ReportFiles,
  options: ProgramWorkOptions,
): ProgramEnding {
  const { fate } = end
  // A program that was stopped by its attempt timeout and ended well was cut off in the middle, as far as anyone knows.
  const isDone = fate.kind === 'exited' && fate.code === 0 && !isOutOfTime(signal)
  if (!isDone && (signal.aborted || fate.kind === 'not-started' || fate.kind === 'stopped')) return { ending: RELEASE }
  return programEnding(end, { output: () => output.read(), result: () => readResultFile(files) }, options)
}

/** Aborts with the signal to send to the program. */
function stopFor(job: Job, { store, signal }: ProgramWorkOptions) {
  const stop = new AbortController()
  const stopNow = () => stop.abort(signal?.reason)
  const onEnd = async () => {
    const reason: StopReason = job.signal.reason
    if (reason.kind === 'lost' && (await endedByHolder(store, job, reason.code))) return
    stopNow()
  }
  const onJob = () => void onEnd()
  if (job.signal.aborted) onJob()
  job.signal.addEventListener('abort', onJob)
  if (signal?.aborted) stopNow()
  signal?.addEventListener('abort', stopNow)
  return {
    signal: stop.signal,
    over() {
      job.signal.removeEventListener('abort', onJob)
      signal?.removeEventListener('abort', stopNow)
    },
  }
}

/** The environment of the program, with the variables of its event, which `leasectl` reads too if the program calls it. */
function environmentFor(job: Job, output: string, { env, store }: ProgramWorkOptions): ProgramWorkOptions['env'] {
  return {
    ...env,
    LEASECTL_STORE: absoluteAddress(store.address),
    LEASECTL_STREAM: job.stream,
    LEASECTL_EVENT: job.event.id,
    LEASECTL_OWNER: job.owner,
    LEASECTL_FENCE: String(job.fence),
    LEASECTL_BORN: job.born,
    LEASECTL_ATTEMPT: String(job.attempt),
    LEASECTL_ATTEMPT_KEY: job.attemptKey,
    LEASECTL_UNDOES: job.event.lc.undoes,
    LEASECTL_UNSURE: job.event.lc.unsure,
    LEASECTL_OUTPUT: output,
  }
}

/** Makes a SQLite path absolute: the program may change its working folder. */
export function absoluteAddress(address: string): string {
  const path = /^sqlite:(.+)$/s.exec(address)?.[1]
  return path === undefined || path.startsWith(':') ? address : `sqlite:${resolve(path)}`
}
