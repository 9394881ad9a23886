import { open } from 'node:fs/promises'
import { WRITE_MODES } from '../../../cli/options.ts'
import { UsageError } from '../../../cli/problem.ts'
import { checkCommandId, checkText } from '../../../stream/text.ts'
import { defined } from '../../../util/defined.ts'
import type { BatchCommandOptions, OutcomeWord } from '../options.ts'

/** What a run file says. */
export interface RunRecord {
  readonly verb: string
  /** Address of the store. */
  readonly store: string
  /** RFC 3339, as written. */
  readonly startedAt: string | undefined
  /** What was changed, by whom and why. With the same command id, changes already applied report "already". */
  readonly given: Pick<
    BatchCommandOptions,
    | 'reason'
    | 'event'
    | 'force'
    | 'reopenCanceled'
    | 'noCompensate'
    | 'stop'
    | 'blob'
    | 'stale'
    | 'signalName'
    | 'every'
  > & {
    readonly by: string
    readonly commandId: string
  }
  /** How it was changed: a rerun may do it otherwise. */
  readonly how: Pick<
    BatchCommandOptions,
    'period' | 'leaseWait' | 'write' | 'ifVersion' | 'concurrency' | 'rate' | 'skipMissing'
  >
  /** The run file that this run continued. */
  readonly rerunOf: string | undefined
  /** SHA-256 of the data of a signal; `undefined` if it had none. */
  readonly input: string | undefined
  readonly targets: readonly RunTarget[]
}

export interface RunTarget {
  readonly stream: string
  readonly event: string | undefined
  /** The incarnation id of the stream at that time, `''` if it had none. */
  readonly born: string
  /** `undefined` if it was not started. */
  readonly outcome: RunOutcome | undefined
}

/** The last outcome of a target. */
export interface RunOutcome {
  readonly word: string
  readonly code: string | undefined
  readonly message: string | undefined
}

/** Whether a target still has something to do: it was not started, or it ended otherwise than done. */
export function isLeft({ outcome }: RunTarget, only?: readonly OutcomeWord[]): boolean {
  if (outcome === undefined) return true
  if (only !== undefined) return only.some(word => word === outcome.word)
  return outcome.word !== 'done' && outcome.word !== 'already'
}

/**
 * Reads a run file. A last line that the end of the process cut off counts as not written.
 *
 * @throws UsageError if it is not a run file, or has fewer targets than the run, which then had changed nothing
 */
export async function readRunFile(path: string): Promise<RunRecord> {
  const lines = recordsIn(await textOf(path))
  const { total, ...run } = understood(path, () => headOf(lines[0]))
  const targets = understood(path, () => targetsOf(lines))
  if (targets.length < total) throw cutShort(path, targets.length, total)
  return { ...run, targets }
}

const HINT = 'A batch prints the path of its run file at the end; runs ls lists them.'

function understood<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    throw new UsageError(`${path} is not a run file`, { cause, hint: HINT })
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      // a device can be endless
      if (!(await file.stat()).isFile()) throw new Error('not a file')
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new UsageError(`the run file ${path} cannot be read`, { cause, hint: HINT })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The records up to the first invalid line. */
function recordsIn(text: string): Fields[] {
  const records: Fields[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'object' && value !== null) records.push(value as Fields)
    } catch {
      break
    }
  }
  return records
}

function headOf(head: Fields | undefined): Omit<RunRecord, 'targets'> & { readonly total: number } {
  if (head?.record !== 'run') throw new TypeError('record')
  const by = textIn(head, 'by')
  const commandId = textIn(head, 'commandId')
  checkText('by', by)
  checkCommandId(commandId)
  const reason = optionalText(head, 'reason')
  if (reason !== undefined) checkText('reason', reason)
  const event = textsIn(head, 'events')
  // runs of earlier versions have no field for blobs, nor for how they were made
  const blob = head.blobs === undefined ? [] : textsIn(head, 'blobs')
  const { total } = head
  if (typeof total !== 'number') throw new TypeError('total')
  return {
    verb: textIn(head, 'verb'),
    store: textIn(head, 'store'),
    startedAt: optionalText(head, 'startedAt'),
    rerunOf: optionalText(head, 'rerunOf'),
    input: optionalText(head, 'input'),
    total,
    given: {
      by,
      commandId,
      ...defined({ reason, stale: optionalNumber(head, 'staleMs') }),
      ...(event.length === 0 ? {} : { event }),
      ...(blob.length === 0 ? {} : { blob }),
      ...(head.force === true ? { force: true } : {}),
      ...(head.canceled === true ? { reopenCanceled: true } : {}),
      ...(head.noCompensate === true ? { noCompensate: true } : {}),
      ...(head.stop === true ? { stop: true } : {}),
      ...(typeof head.signal === 'string' ? { signalName: textIn(head, 'signal') } : {}),
      ...(head.every === true ? { every: true } : {}),
    },
    how: {
      ...defined({
        period: optionalNumber(head, 'periodS'),
        leaseWait: optionalNumber(head, 'leaseWaitMs'),
        write: WRITE_MODES.find(mode => mode === head.write),
        ifVersion: optionalNumber(head, 'ifVersion'),
        concurrency: optionalNumber(head, 'concurrency'),
        rate: optionalNumber(head, 'rate'),
      }),
      ...(head.skipMissing === true ? { skipMissing: true } : {}),
    },
  }
}

function targetsOf(lines: readonly Fields[]): RunTarget[] {
  const outcomes = new Map<string, RunOutcome>()
  for (const line of lines) if (line.record === 'outcome') outcomes.set(keyOf(line), outcomeIn(line))
  return lines
    .filter(line => line.record === 'target')
    .map(line => ({
      stream: textIn(line, 'stream'),
      event: optionalText(line, 'event'),
      born: optionalText(line, 'born') ?? '',
      outcome: outcomes.get(keyOf(line)),
    }))
}

function outcomeIn(line: Fields): RunOutcome {
  return {
    word: textIn(line, 'outcome'),
    code: optionalText(line, 'code'),
    message: optionalText(line, 'message'),
  }
}

function keyOf(line: Fields): string {
  return JSON.stringify([textIn(line, 'stream'), optionalText(line, 'event')])
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '') throw new TypeError(name)
  return value
}

function textsIn(fields: Fields, name: string): readonly string[] {
  const values = fields[name]
  if (!Array.isArray(values) || !values.every(value => typeof value === 'string')) throw new TypeError(name)
  return values
}

function optionalNumber(fields: Fields, name: string): number | undefined {
  const value = fields[name] ?? undefined
  if (value !== undefined && (typeof value !== 'number' || !(value >= 0))) throw new TypeError(name)
  return value
}

function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === null || fields[name] === undefined ? undefined : textIn(fields, name)
}

function cutShort(path: string, found: number, total: number): UsageError {
  return new UsageError(`${path} ends after ${found} of ${total} targets`, {
    hint: 'That run ended before it changed anything: run its command again.',
  })
}
