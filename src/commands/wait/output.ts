import { itemsWriter } from '../../cli/items-writer.ts'
import type { Output } from '../../cli/output.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import { noPaint } from '../../formats/terminal/style.ts'
import { endedLine, openLine, waitJson } from '../../formats/wait.ts'
import type { AwaitedStream } from '../../ops/wait-types.ts'
import type { Tally } from './tally.ts'

/** Prints what becomes of streams. */
export interface WaitPrinter {
  ended(stream: AwaitedStream, waitedMs: number): Promise<void>
  /** @param report whether what was not met is to be told once more, one by one */
  end(tally: Tally, waitedMs: number, report: boolean): Promise<void>
}

export function openWaitPrinter(format: string | undefined, output: Output, nowMs: () => number): WaitPrinter {
  switch (format) {
    case 'json':
      return jsonPrinter(output)
    case 'ndjson':
      return linePrinter(output)
    default:
      return textPrinter(output, nowMs)
  }
}

/** One document at the end, those that ended in the order in which they did, then those that are still open. */
function jsonPrinter(output: Output): WaitPrinter {
  const items: string[] = []
  return {
    ended: async (stream, waitedMs) => void items.push(jsonText(waitJson(stream, waitedMs), 0)),
    async end({ open, met, otherwise }, waitedMs) {
      const writer = itemsWriter(output)
      await writer.write(items)
      await writer.write(
        open
          .values()
          .toArray()
          .map(stream => jsonText(waitJson(stream, waitedMs), 0)),
      )
      const total = items.length + open.size
      await writer.end({ total, met, endedOtherwise: otherwise.length, open: open.size })
    },
  }
}

/** A line for each stream: when it ends; at the end for those that did not. */
function linePrinter(output: Output): WaitPrinter {
  const ended = (stream: AwaitedStream, waitedMs: number) => output.text(jsonLine(waitJson(stream, waitedMs)))
  return {
    ended,
    async end({ open }, waitedMs) {
      for (const stream of open.values()) await ended(stream, waitedMs)
    },
  }
}

/** At most so many are told one by one. */
const MOST_TOLD = 20

function textPrinter(output: Output, nowMs: () => number): WaitPrinter {
  return {
    ended: (stream, waitedMs) => output.lines([endedLine(stream, waitedMs, output.paint)]),
    async end({ open, otherwise, total }, _waitedMs, report) {
      const count = otherwise.length + open.size
      if (!report || count === 0) return
      // colours follow stdout, this goes to stderr
      const look = { nowMs: nowMs(), time: output.time, paint: noPaint }
      const told = [...otherwise, ...open.values().take(MOST_TOLD)].slice(0, MOST_TOLD)
      await output.say(`not met: ${countText(count)} of ${countText(total)}`)
      for (const stream of told) await output.say(`  ${openLine(stream, look)}`)
      if (count > told.length) await output.say(`  and ${count - told.length} more (-o json lists all)`)
    },
  }
}
