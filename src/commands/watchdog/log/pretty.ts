import { withoutSecrets } from '../../../cli/without-secrets.ts'
import { clock } from '../../../formats/terminal/numbers.ts'
import type { Paint, Style } from '../../../formats/terminal/style.ts'
import { visibleText } from '../../../stream/text.ts'
import { formatDuration } from '../../../stream/time/durations.ts'
import { parseTimeout } from '../../../stream/time/timeouts.ts'
import type { Entry, Level } from './entries.ts'

export interface PrettyOptions {
  readonly nowMs: number
  readonly paint: Paint
  readonly time: 'local' | 'utc' | 'iso'
}

const KIND_WIDTH = 8
const STYLES: { readonly [Of in Level]: Style } = { debug: 'dim', info: 'plain', warn: 'warn', error: 'bad' }

/** `14:02:11 ended    orders/4711 01.02.00 Search: no sign of life since 14:00:11 (timeout 2m), 0.4s late` */
export function prettyLine(entry: Entry, options: PrettyOptions): string {
  const { nowMs, paint, time } = options
  const { level, kind, text, stream, event, name } = entry
  const about = [stream, event, name].filter(part => part !== undefined && part !== '').join(' ')
  const what = about === '' ? text : `${about}: ${text}`
  const told = visibleText(withoutSecrets(forPeople(what, options)))
  const word = paint(entry.style ?? STYLES[level], visibleText(kind).padEnd(KIND_WIDTH))
  return `${paint('dim', clock(nowMs, nowMs, time))} ${word} ${told}`
}

const ISO = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g
const TIMEOUT = /\(timeout ([^()]{1,40})\)/g

/** Times as the clock on the wall shows them, timeouts as people write them. */
function forPeople(text: string, { nowMs, time }: PrettyOptions): string {
  return text
    .replace(ISO, iso => {
      const ms = Date.parse(iso)
      return Number.isNaN(ms) ? iso : clock(ms, nowMs, time)
    })
    .replace(TIMEOUT, (whole, written: string) => {
      const timeout = parseTimeout(written)
      return timeout.kind === 'after' ? `(timeout ${formatDuration(timeout.ms)})` : whole
    })
}
