import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Problem, problem } from '../../../cli/problem.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { jsonLine, jsonTime, orNull } from '../../../formats/json.ts'
import { errorCode } from '../../../util/errors.ts'
import { createFolders } from '../../../util/folders.ts'
import type { Result, Target } from '../action.ts'
import type { SignedOptions } from '../options.ts'
import type { BatchJob, BatchPlan } from '../plan.ts'
import { wordOf } from '../result.ts'
import { WriteBuffer } from '../write-buffer.ts'
import { runFolder } from './names.ts'

/** The first record of a run file. */
export interface RunHeader {
  readonly verb: string
  /** Address of the store. */
  readonly store: string
  readonly commandId: string
  readonly options: SignedOptions
  /** The run file that this run continues. */
  readonly rerunOf: string | undefined
}

/** The targets and outcomes of a batch, line by line: enough to do the rest later. */
export interface RunFile {
  readonly path: string
  add(result: Result): void
  /** Resolves when everything is written. */
  close(): Promise<void>
}

/**
 * Creates a run file with header and targets before the first change, so that a killed run can be resumed. Completed writes
 * survive the end of this process; for a lost outcome the target is tried again and reports "already".
 *
 * @param onFault called once, when an outcome can no longer be written
 */
export async function openRunFile(
  header: RunHeader,
  plan: BatchPlan,
  runtime: Runtime,
  onFault: (message: string) => void,
): Promise<RunFile | Problem> {
  const folder = runFolder(runtime.env)
  const path = join(folder, fileName(header.verb, runtime))
  try {
    createFolders(folder, { mode: 0o700 })
    const file = await createFile(path, headerAndTargets(header, plan, runtime))
    return runFileOver(file, path, onFault)
  } catch (error) {
    return cannotWrite(path, error)
  }
}

async function createFile(path: string, text: string): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.appendFile(text)
    return file
  } catch (error) {
    await file.close()
    await rm(path, { force: true })
    throw error
  }
}

function runFileOver(file: FileHandle, path: string, onFault: (message: string) => void): RunFile {
  let isBroken = false
  const fault = (error: unknown) => {
    if (!isBroken) onFault(`the run file ${path} can no longer be written (${codeOf(error)}); the batch continues`)
    isBroken = true
  }
  const lines = new WriteBuffer<string>(async texts => {
    if (!isBroken) await file.appendFile(texts.join('')).catch(fault)
  })
  return {
    path,
    add: result => lines.add(outcomeLine(result)),
    async close() {
      await lines.end()
      await file.close().catch(fault)
    },
  }
}

/** `20261120T140249Z-lease-break-1f0a9c3e.ndjson` */
function fileName(verb: string, runtime: Runtime): string {
  const time = new Date(runtime.nowMs()).toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${verb.replace(' ', '-')}-${runtime.newId().slice(-8)}.ndjson`
}

function headerAndTargets(
  { verb, store, commandId, options, rerunOf }: RunHeader,
  plan: BatchPlan,
  runtime: Runtime,
): string {
  const jobs = new Map(plan.jobs.flatMap(job => job.targets.map(target => [target, job] as const)))
  const head = {
    record: 'run',
    verb,
    store,
    startedAt: jsonTime(runtime.nowMs()),
    by: options.by,
    reason: orNull(options.reason),
    commandId,
    events: options.event ?? [],
    force: options.force ?? false,
    canceled: options.reopenCanceled ?? false,
    noCompensate: options.noCompensate ?? false,
    stop: options.stop ?? false,
    blobs: options.blob ?? [],
    staleMs: options.stale ?? null,
    periodS: options.period ?? null,
    leaseWaitMs: options.leaseWait ?? null,
    write: options.write ?? null,
    ifVersion: options.ifVersion ?? null,
    concurrency: options.concurrency ?? null,
    rate: options.rate ?? null,
    skipMissing: options.skipMissing ?? false,
    signal: orNull(options.signalName),
    every: options.every ?? false,
    input: options.input?.sha256 ?? null,
    rerunOf: orNull(rerunOf),
    total: plan.targets.length,
  }
  const settled = new Map(plan.settled.map(({ target, born }) => [target, born]))
  const targets = plan.targets.map(target => targetLine(target, jobs.get(target), settled.get(target)))
  return [jsonLine(head), ...targets].join('')
}

function targetLine({ stream, event }: Target, job: BatchJob | undefined, settledBorn: string | undefined): string {
  const born = job === undefined ? settledBorn : job.pin.ifBorn
  return jsonLine({ record: 'target', stream, event: event ?? null, version: job?.version ?? null, born: orNull(born) })
}

function outcomeLine(result: Result): string {
  const { target, commandId, outcome } = result
  const isDone = 'result' in outcome
  return jsonLine({
    record: 'outcome',
    stream: target.stream,
    event: target.event ?? null,
    outcome: wordOf(result),
    code: isDone ? null : outcome.code,
    version: isDone ? outcome.result.version : null,
    commandId,
    message: isDone ? null : outcome.message,
  })
}

/** Exit 9 for a full disk, which may change, and 2 for a folder without permission. */
function cannotWrite(path: string, error: unknown): Problem {
  const code = codeOf(error)
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO'
  return problem('run-file', `the run file ${path} cannot be written (${code}); nothing was changed`, {
    exit: isFull ? 9 : 2,
    cause: error,
    hint: isFull
      ? 'Free some space, or set XDG_STATE_HOME to a folder with free space.'
      : 'Set XDG_STATE_HOME to a writable folder.',
  })
}

function codeOf(error: unknown): string {
  return errorCode(error) ?? String(error)
}
