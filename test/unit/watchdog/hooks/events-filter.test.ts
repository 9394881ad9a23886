import { describe, expect, test } from 'vitest'
import type { Summary } from '../../../../src/stream/summary.ts'
import { type FilterRules, MARGIN_MS, mayHaveEvents } from '../../../../src/watchdog/hooks/events.ts'
import { HOOK_KINDS } from '../../../../src/watchdog/hooks/target.ts'
import type { MovedStream } from '../../../../src/watchdog/report.ts'
import { NOW } from '../../ops/support.ts'

const HOUR = 3_600_000
const RULES: Omit<FilterRules, 'kind'> = { sinceMs: NOW - HOUR, lastSweepMs: NOW - 10_000 }

type About = Partial<Pick<Summary, 'version' | 'status' | 'failed' | 'createdMs'>> & {
  readonly before?: number
  readonly modifiedMs?: number
  /** Its summary was made from the document. */
  readonly isRead?: boolean
}

function moved({ before, modifiedMs = NOW, isRead = false, ...about }: About): MovedStream {
  const summary = { version: 5, status: 'inprocess', failed: 0, createdMs: NOW - 24 * HOUR, ...about } as Summary
  const listed = { name: 's', etag: 'e', size: 1, modifiedMs, lease: { state: 'available' } } as const
  return {
    listed: isRead ? listed : { ...listed, summary },
    summary,
    fault: undefined,
    pin: {},
    before,
    isOtherLife: false,
  }
}

describe('the document is read', () => {
  test.each<[string, About, Partial<FilterRules>, boolean]>([
    ['of a stream that ended', { before: 4, status: 'aborted' }, {}, true],
    ['of a stream with a failure', { before: 4, failed: 1 }, {}, true],
    ['not of a stream that only progressed', { before: 4 }, {}, false],
    ['of a stream after two transactions: it may have failed and been reopened', { before: 3 }, {}, true],
    ['not after a heartbeat', { before: 5, status: 'aborted', failed: 1 }, {}, false],
    ['if another wrote at the same version', { before: 5, failed: 1, isRead: true }, {}, true],
    [
      'if it is young: an earlier stream may have had that name and version',
      { before: 5, failed: 1, createdMs: NOW },
      {},
      true,
    ],
    ['if it is younger than its versions', { before: 9, version: 3 }, {}, true],
    ['not for a kind without a hook', { before: 4, failed: 1 }, { kind: 'done' }, false],
    ['not for an end without a hook', { before: 4, status: 'canceled' }, { kind: 'failed' }, false],
    ['at the first poll, if it was written since', { failed: 1 }, { lastSweepMs: undefined }, true],
    ['at the first poll not if it is unchanged since', { failed: 1, modifiedMs: NOW - 2 * HOUR }, {}, false],
    ['at the first poll with a margin', { failed: 1, modifiedMs: NOW - HOUR - MARGIN_MS + 1 }, {}, true],
    ['at the first poll of a stream that may have been reopened', { version: 3 }, {}, true],
    ['at the first poll not of a stream that cannot have been reopened', { version: 2 }, {}, false],
  ])('%s', (_, about, rules, isRead) => {
    const kinds = rules.kind === undefined ? HOOK_KINDS : [rules.kind]
    expect(kinds.some(kind => mayHaveEvents(moved(about), { ...RULES, ...rules, kind }))).toBe(isRead)
  })

  test('not of an unreadable stream', () => {
    expect(
      mayHaveEvents({ ...moved({ failed: 1, before: 4 }), summary: undefined }, { ...RULES, kind: 'failed' }),
    ).toBe(false)
  })
})
