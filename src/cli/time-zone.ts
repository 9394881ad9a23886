import { visibleText } from '../util/visible-text.ts'

const UTC = /^:?(Etc\/)?(UTC|UCT|GMT|Zulu|Z|Universal|Greenwich)([+-]?0)?$/i

/**
 * A sentence if `TZ` names no time zone: Node then takes UTC without a word. `undefined` for a known one, and without `TZ`.
 *
 * @param offset minutes between UTC and local time, in a month of this year
 */
export function timeZoneWarning(
  tz: string | undefined,
  offset: (month: number) => number = month => new Date(new Date().getFullYear(), month).getTimezoneOffset(),
): string | undefined {
  if (tz === undefined || tz === '' || UTC.test(tz) || offset(0) !== 0 || offset(6) !== 0) return undefined
  try {
    // loads the tables of all zones, which takes longer than most commands
    new Intl.DateTimeFormat('en', { timeZone: tz.replace(/^:/, '') })
    return undefined
  } catch {
    return `TZ=${visibleText(tz)} is not a time zone: local times are UTC (write TZ=Europe/Berlin)`
  }
}
