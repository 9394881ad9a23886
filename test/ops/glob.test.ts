import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { globOf } from '../../src/ops/glob.ts'
import { upcoming } from '../../src/ops/watchdog-next.ts'
import { parseWatchdogState } from '../../src/ops/watchdog-state-text.ts'
import { aWatchdog } from '../watchdog/state-world.ts'
import { NOW } from './check-support.ts'

test('everything but a wildcard is itself', () => {
  const name = 'a-b.c+d(e)[f]{g}^h$i|j/k\\l@m#n&o~p!q%r,s=t;u\'v"w'
  expect(globOf(name).matches(name)).toBe(true)
  expect(globOf(`${name}*`).matches(`${name}-2`)).toBe(true)
  expect(globOf('a.c').matches('abc')).toBe(false)
})

test.each([
  ['a*', 'a', true],
  ['a*b*', 'ab', true],
  ['ab*b', 'ab', false],
  ['a?b', 'ab', false],
  ['?', '😀', true],
  ['??', '😀', false],
  ['*?', 'ü😀', true],
  ['**/a', 'a', false],
  ['**/a', 'b/c/a', true],
  ['*/a', 'b/c/a', false],
  ['**a*b', 'a/ab', true],
  ['***', 'a/b', true],
  ['*?*', '', false],
  ['*\n?', 'a\nb', true],
  ['', '', true],
  ['**', '', true],
])('%j and the name %j: %j', (pattern, name, isMatch) => {
  expect(globOf(pattern).matches(name)).toBe(isMatch)
})

/** What a pattern means, said as a regular expression. It backtracks: for short ones only. */
function reference(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|\*|\?|[\\^$.|+()[\]{}/]/g, part => {
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  return new RegExp(`^${source}$`, 'su')
}

describe('matches what the regular expression of the pattern matches', () => {
  const characters = ['a', 'b', '/', '-', '.', '\n', 'ü', '😀'] as const
  const aText = fc.array(fc.constantFrom(...characters), { maxLength: 9 }).map(parts => parts.join(''))
  const aPattern = (maxLength: number) =>
    fc
      .array(fc.constantFrom('*', '*', '**', '**', '?', '***', ...characters), { maxLength })
      .map(parts => parts.join(''))

  /** A name that the pattern is likely to match. */
  const aLikelyName = (pattern: string) =>
    fc
      .array(fc.tuple(fc.constantFrom('', 'a', '-', 'b/a', '😀'), fc.integer({ min: 0, max: 30 })), { minLength: 1 })
      .map(fillings => {
        let at = 0
        const filling = () => fillings[at++ % fillings.length]?.[0] ?? ''
        return pattern.replace(/\*+/g, filling).replaceAll('?', () => filling() || 'a')
      })
  const aPair = (maxLength: number) =>
    aPattern(maxLength).chain(pattern => fc.tuple(fc.constant(pattern), fc.oneof(aText, aLikelyName(pattern))))

  function agreesOn(pattern: string, name: string): boolean {
    const isMatch = globOf(pattern).matches(name)
    expect({ pattern, name, isMatch }).toEqual({ pattern, name, isMatch: reference(pattern).test(name) })
    return isMatch
  }

  test('short patterns', () => {
    const matched = { yes: 0, no: 0 }
    fc.assert(
      fc.property(aPair(9), ([pattern, name]) => {
        matched[agreesOn(pattern, name) ? 'yes' : 'no'] += 1
        expect(name.startsWith(globOf(pattern).prefix) || !globOf(pattern).matches(name)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
    expect(Math.min(matched.yes, matched.no)).toBeGreaterThan(300)
  })

  test('patterns of 28 to 100 more characters, before a wildcard, behind it, and between two', () => {
    const matched = { yes: 0, no: 0 }
    const aPad = fc.tuple(fc.integer({ min: 28, max: 100 }), fc.integer({ min: 0, max: 40 }))
    fc.assert(
      fc.property(aPair(5), aPad, fc.constantFrom('?', 'a', '😀'), ([pattern, name], [before, behind], pad) => {
        const filling = pad === '?' ? 'ü' : pad
        const long = `?${pad.repeat(before)}${pattern}${pad.repeat(behind)}?`
        const isMatch = agreesOn(long, `a${filling.repeat(before)}${name}${filling.repeat(behind)}a`)
        matched[isMatch ? 'yes' : 'no'] += 1
      }),
      { numRuns: 1_000 },
    )
    expect(Math.min(matched.yes, matched.no)).toBeGreaterThan(100)
  })
})

/** Where every way of matching is tried in turn, most of these take from minutes to longer than the world stands. */
describe('what was made to take long takes no time', () => {
  /** Stops what does not end. */
  const ended = <Value>(run: () => Value): Value => {
    const box: { value?: Value; run: () => void } = {
      run: () => {
        box.value = run()
      },
    }
    runInNewContext('run()', box, { timeout: 4_000 })
    if (box.value === undefined) throw new Error('it came to no end')
    return box.value
  }

  const dashes = '-'.repeat(1_000)

  test.each([
    ['the end is missing', '*-*-*-*-eu', `${dashes}us`, false],
    ['the end is there', '*-*-*-*-eu', `${dashes}x-eu`, true],
    ['eight stars', '*-*-*-*-*-*-*-*-eu', dashes, false],
    ['eight stars, and the end is there', '*-*-*-*-*-*-*-*x-eu', `${dashes}-eu`, false],
    ['stars across slashes', '**-**-**-**-**-**x*', dashes, false],
    ['hundreds of stars', `${'*-'.repeat(500)}x*`, dashes, false],
    ['both kinds', `${'**-*-'.repeat(200)}x*`, dashes, false],
    ['both kinds that match', `${'**-*-'.repeat(200)}*`, dashes, true],
    ['many question marks', `**/**-*-*-${'?'.repeat(700)}x**`, `/${dashes}`, false],
  ])('%s', (_, pattern, name, isMatch) => {
    expect(ended(() => globOf(pattern).matches(name))).toBe(isMatch)
  })

  test('in the document of the watchdogs', () => {
    const settings = { match: '*-*-*-*-*-*-*-*-eu', onDue: 'abort-event', maxPerPass: 1, maxShare: 1 }
    const stream = `${dashes}-x-eu-`
    const late = { id: 'k', writtenMs: NOW - 35_000, lastSweepMs: NOW - 35_000, decisions: [] }
    const entries = [
      aWatchdog(NOW, { ...late, next: [{ stream, dueMs: NOW - 30_000 }] }),
      aWatchdog(NOW, { id: 'o', settings, next: [], decisions: [] }),
    ]
    const { watchdogs } = parseWatchdogState(JSON.stringify({ watchdogs: entries }))
    expect(ended(() => upcoming(watchdogs, NOW))).toEqual([{ stream, dueMs: NOW - 30_000 }])
  })
})
