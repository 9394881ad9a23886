import { resolve } from 'node:path'
import { type Argv, type ProgramEnd, runProgram } from '../../process/run-program.ts'
import type { StreamStore } from '../../store/store.ts'
import { endedByHolder } from '../self-reported.ts'
import type { Job, StopReason, Work, WorkResult } from '../types.ts'
import { RELEASE } from '../work-event.ts'
import { type OutputFile, outputFile } from './output-file.ts'
import { type ProgramEnding, type ProgramSuccessors, programEnding } from './result.ts'

/** Why a program was not started: there is no place for what it may say. */
export const NO_OUTPUT_FILE = 'no-output-file'

/** How a program is run as the work of an event. */
export interface ProgramWorkOptions extends ProgramSuccessors {
  readonly store: StreamStore
  /** What the program gets beside the variables of its event. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What it reads: what this process reads, nothing, or a text about its event; without that it is not started. */
  readonly stdin: 'inherit' | 'ignore' | ((job: Job) => Promise<string | undefined>)
  /** Where it writes. Default: to the stdout of this process. */
  readonly stdout?: 'inherit' | 'stderr'
  /** Takes what it writes to stderr. */
  readonly stderr: (chunk: Uint8Array) => Promise<void>
  /** For the first event, if it was made before: whoever made it removes it if there is no work. */
  readonly output?: OutputFile
  /** From asking it to end to ending it, ms. */
  readonly graceMs: number
  /** That of the worker: its reason names the signal that is handed on, even once the claim is gone. */
  readonly signal?: AbortSignal
  /** Told how it ended, before that is reported. */
  readonly ended?: (job: Job, run: ProgramRun) => void
}

/** What came of a program, beside the end of its event. */
export interface ProgramRun {
  readonly fate: ProgramEnd['fate']
  /** Why what it said in `LEASECTL_OUTPUT` cannot be used. */
  readonly badOutput?: string
}

/**
 * Work that is done by a program. It ends with 0: the event is completed, or advanced where successors are named, here or by
 * the program. With anything else: it is failed, with the last lines of its stderr. One that is to stop, and did not end with
 * 0 all the same, hands the event back; so does one that cannot be started, for then nothing was tried. A program that ended
 * its event itself is not stopped for having lost the claim.
 */
export function programWork(argv: Argv, options: ProgramWorkOptions): Work {
  let { output: made } = options
  return async job => {
    const output = made ?? outputFile()
    made = undefined
    if (output === undefined) return notStarted(job, NO_OUTPUT_FILE, options)
    const stop = stopFor(job, options)
    try {
      const stdin = await inputOf(job, options)
      if (stdin === undefined) return notStarted(job, 'no-input', options)
      const end = await runProgram(argv, {
        env: environmentFor(job, output.path, options),
        stdin,
        stdout: options.stdout ?? 'inherit',
        stderr: options.stderr,
        folder: output.folder,
        errorPipe: output.errorPipe,
        signal: stop.signal,
        graceMs: options.graceMs,
      })
      const told = endingOf(end, job, output, options)
      options.ended?.(job, { fate: end.fate, ...(told.badOutput === undefined ? {} : { badOutput: told.badOutput }) })
      if (told.msg !== undefined) await job.progress(told.msg)
      return told.ending
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

/** What the program is to read; `undefined` if that cannot be told. */
async function inputOf(job: Job, { stdin }: ProgramWorkOptions) {
  if (typeof stdin !== 'function') return stdin
  const text = await stdin(job)
  return text === undefined ? undefined : { text }
}

function endingOf(end: ProgramEnd, { signal }: Job, output: OutputFile, options: ProgramWorkOptions): ProgramEnding {
  const { fate } = end
  const isDone = fate.kind === 'exited' && fate.code === 0
  if (!isDone && (signal.aborted || fate.kind === 'not-started' || fate.kind === 'stopped')) return { ending: RELEASE }
  return programEnding(end, () => output.read(), options)
}

/** Aborts with the signal that the program gets. */
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

/** The variables of an event, by which the program, and `leasectl` called by it, knows what it works on. */
function environmentFor(job: Job, output: string, { env, store }: ProgramWorkOptions): ProgramWorkOptions['env'] {
  return {
    ...env,
    LEASECTL_STORE: absolute(store.address),
    LEASECTL_STREAM: job.stream,
    LEASECTL_EVENT: job.event.id,
    LEASECTL_OWNER: job.owner,
    LEASECTL_FENCE: String(job.fence),
    LEASECTL_BORN: job.born,
    LEASECTL_ATTEMPT: String(job.attempt),
    LEASECTL_ATTEMPT_KEY: job.attemptKey,
    LEASECTL_OUTPUT: output,
  }
}

/** The program may change its working folder. */
function absolute(address: string): string {
  const path = /^sqlite:(.+)$/s.exec(address)?.[1]
  return path === undefined || path.startsWith(':') ? address : `sqlite:${resolve(path)}`
}
