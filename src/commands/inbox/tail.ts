import type { GlobalOptions } from '../../cli/options.ts'
import { type Output, openOutput, writeTexts } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { escapeHostile, jsonLine, jsonTimeOf } from '../../formats/json.ts'
import { timeText } from '../../formats/terminal/numbers.ts'
import type { ReadRecord } from '../../inbox/record.ts'
import { InboxTail, type TailedRecord } from '../../inbox/tail.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import { readTime } from '../../stream/time/dates.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { visibleText } from '../../util/visible-text.ts'
import { findInbox } from './find.ts'

export interface TailInboxOptions extends GlobalOptions {
  readonly name: string
  /** Infinite for all. */
  readonly lines?: number
  readonly follow?: boolean
  /** Time between polls, ms. */
  readonly interval?: number
}

const USUAL_LINES = 10
const USUAL_INTERVAL_MS = 1_000

/** Prints the last records of an inbox, and with `-f` new ones as they come. */
export async function tailInbox(options: TailInboxOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { name, lines = USUAL_LINES, follow, interval } = options
  if (interval !== undefined && !follow) throw new UsageError('--interval needs -f')
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const inbox = await findInbox(store, name, runtime)
  const tail = new InboxTail(store, inbox, runtime.signal)
  const print = (records: readonly TailedRecord[]) =>
    writeTexts(
      records.map(one => recordText(one, options, output, store.nowMs())),
      output,
    )
  let printed = 0
  if (lines !== Number.POSITIVE_INFINITY) {
    const last = await tail.last(lines)
    printed = last.length
    await print(last)
  } else {
    for (let page = await tail.next(); page.length > 0; page = await tail.next()) {
      printed += page.length
      await print(page)
    }
  }
  if (follow) await followOn(tail, print, interval ?? USUAL_INTERVAL_MS, output, runtime)
  else if (printed === 0 && lines > 0) await output.say('no records')
  return undefined
}

async function followOn(
  tail: InboxTail,
  print: (records: readonly TailedRecord[]) => Promise<void>,
  intervalMs: number,
  output: Output,
  { signal }: Runtime,
): Promise<void> {
  let isAway = false
  while (!signal.aborted) {
    try {
      const page = await tail.next()
      if (isAway) await output.say('-- the store answers again; nothing was missed')
      isAway = false
      await print(page)
      if (page.length > 0) continue
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof StoreUnreachable)) throw error
      if (!isAway) await output.say(`-- ${visibleText(error.message)}; trying again`)
      isAway = true
    }
    await sleepUntilAborted(intervalMs, signal)
  }
}

function recordText(
  { partition, found }: TailedRecord,
  { output: format }: TailInboxOptions,
  { time }: Output,
  nowMs: number,
): string {
  if (format === 'ndjson') return recordLine(partition, found)
  if (found === undefined) return `${partition}  not a record\n`
  const { id, key, at } = found.record
  const keyText = key === id ? '' : `  ${visibleText(key)}`
  return `${timeText(readTime(at), nowMs, time)}  ${partition}  ${visibleText(id)}${keyText}  ${dataText(found)}\n`
}

const NO_DATA = '"data":null'

function recordLine(partition: number, found: ReadRecord | undefined): string {
  const { id, key, at, seq, notBefore } = found?.record ?? {}
  const fields = { id: id ?? null, key: key ?? null, at: jsonTimeOf(at), data: null, seq: seq ?? null }
  const line = jsonLine({ partition, ...fields, notBefore: jsonTimeOf(notBefore) })
  return found === undefined ? line : line.replace(NO_DATA, () => `"data":${dataText(found)}`)
}

/** As it was put, with every digit, and however deep. Only blanks between its parts can be tabs or line ends. */
function dataText({ json }: ReadRecord): string {
  return escapeHostile(json.replaceAll(/[\t\r\n]/g, ' '))
}
