import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { watchedBy } from '../../../src/ops/check/watchdogs.ts'
import { globOf, storedGlobOf } from '../../../src/ops/glob.ts'
import { parseWatchdogState } from '../../../src/ops/watchdog-state/parse.ts'
import { upcoming } from '../../../src/ops/watchdog-state/upcoming.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'
import { aWatchdog } from '../watchdog/state/world.ts'
import { NOW } from './check/support.ts'

test('every character but a wildcard matches itself', () => {
  const name = 'a-b.c+d(e)]f}g^h$i|j/k!l@m#n&o~p%q,r=s;t\'u"v'
  expect(globOf(name)).toMatchObject({ prefix: name })
  expect(globOf(name).matches(name)).toBe(true)
  expect(globOf(`${name}*`).matches(`${name}-2`)).toBe(true)
  expect(globOf('a.c').matches('abc')).toBe(false)
})

test('a backslash makes the next character literal', () => {
  const name = 'a*b?c[d]e{f,g}h\\i'
  const pattern = name.replaceAll(/[*?[\]{},\\]/g, '\\$&')
  expect(globOf(pattern)).toMatchObject({ prefix: name })
  expect(globOf(pattern).matches(name)).toBe(true)
  expect(globOf(`${pattern}*`)).toMatchObject({ prefix: name })
  expect(globOf('a\\*').matches('ab')).toBe(false)
  expect(globOf('\\a\\😀*').matches('a😀b')).toBe(true)
})

test.each([
  ['imp/[0-3]', 'imp/'],
  ['imp/{1,2}/*', 'imp/'],
  ['{imp,exp}/1', ''],
  ['a\\[1]b*', 'a[1]b'],
  ['a\\\\*', 'a\\'],
  ['[a]b', ''],
  ['a?b', 'a'],
  ['', ''],
])('every match of %j begins with %j', (pattern, prefix) => {
  expect(globOf(pattern).prefix).toBe(prefix)
})

test.each([
  ['imp/[0-3', 'the [ at character 5 of the pattern is not closed'],
  ['[', 'the [ at character 1 of the pattern is not closed'],
  ['[]', 'the [ at character 1 of the pattern is not closed'],
  ['[!]', 'the [ at character 1 of the pattern is not closed'],
  ['[a\\]', 'the [ at character 1 of the pattern is not closed'],
  ['[a-', 'the [ at character 1 of the pattern is not closed'],
  ['a[1/b]', 'the [ at character 2 of the pattern has a /'],
  ['[z-a]', 'the [ at character 1 of the pattern has a range that ends before it begins'],
  ['[[:digit:]]', 'the [ at character 1 of the pattern names a class of characters'],
  ['{a,b', 'the { at character 1 of the pattern is not closed'],
  ['{a,{b,c}', 'the { at character 1 of the pattern is not closed'],
  ['{a,[}]', 'the { at character 1 of the pattern is not closed'],
  ['x{1..3}', 'the { at character 2 of the pattern has one alternative'],
  ['{}', 'the { at character 1 of the pattern has one alternative'],
  ['a\\', 'the \\ at character 2 of the pattern stands at the end'],
])('%j is refused', (pattern, message) => {
  expect(() => globOf(pattern)).toThrow(message)
  expect(storedGlobOf(pattern).matches(pattern)).toBe(false)
})

test('a pattern that is longer than any name is refused', () => {
  expect(() => globOf('a'.repeat(1_025))).toThrow('a pattern of 1025 characters is too long')
  expect(globOf('a'.repeat(1_024)).matches('a'.repeat(1_024))).toBe(true)
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
  ['imp/[0-3]', 'imp/2', true],
  ['imp/[0-3]', 'imp/4', false],
  ['imp/[0-3]', 'imp/[0-3]', false],
  ['[!0-3]', '4', true],
  ['[^0-3]', '3', false],
  ['[!0-3]', '', false],
  ['a[!b]c', 'a/c', false],
  ['a[+-9]c', 'a/c', false],
  ['[]a]', ']', true],
  ['[!]a]', ']', false],
  ['[a-]', '-', true],
  ['[-a]', '-', true],
  ['[a!]', '!', true],
  ['[\\]]', ']', true],
  ['[a\\-z]', 'b', false],
  ['[*?{,}]', ',', true],
  ['[😀-😂]', '😁', true],
  ['*[!😀]', '😀', false],
  ['{a,b}', 'b', true],
  ['{a,b}', 'a,b', false],
  ['{a,b}/*.{x,y*}', 'b/1.yz', true],
  ['x{,-old}', 'x', true],
  ['x{,-old}', 'x-old', true],
  ['{a*,b/**}z', 'b/c/z', true],
  ['{a*,b/**}z', 'a/c/z', false],
  ['{a,{b,c}d}', 'cd', true],
  ['{a,{b,c}d}', 'c', false],
  ['{[,],x}', ',', true],
  ['{a\\,b,c\\}}', 'a,b', true],
  ['{a\\,b,c\\}}', 'c}', true],
  ['*{abcd,c}*d', 'abcd', true],
  ['{*,b}*', 'a/b', false],
  ['a,b}', 'a,b}', true],
])('%j and the name %j: %j', (pattern, name, isMatch) => {
  expect(globOf(pattern).matches(name)).toBe(isMatch)
})

/** The meaning of a pattern as a regular expression. It backtracks: only for short patterns. */
function reference(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|\*|\?|[\\^$.|+()[\]{}/]/g, part => {
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  return new RegExp(`^${source}$`, 'su')
}

describe('matches like the regular expression of the pattern', () => {
  const characters = ['a', 'b', '/', '-', '.', '\n', 'ü', '😀'] as const
  const aText = fc.array(fc.constantFrom(...characters), { maxLength: 9 }).map(parts => parts.join(''))
  const aPattern = (maxLength: number) =>
    fc
      .array(fc.constantFrom('*', '*', '**', '**', '?', '***', ...characters), { maxLength })
      .map(parts => parts.join(''))

  /** A name that the pattern probably matches. */
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

  test('patterns of 28 to 100 more characters, before a wildcard, after it, and between two', () => {
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

describe('brackets, braces and backslashes', () => {
  type Part =
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'wildcard'; readonly text: string }
    | { readonly kind: 'one of'; readonly isNegated: boolean; readonly characters: readonly string[] }
    | { readonly kind: 'alternatives'; readonly of: readonly (readonly Part[])[] }

  const signs = [...'ab/-!^*?[]{},\\', '😀'] as const
  const sign = fc.constantFrom(...signs)
  const { parts: aPattern } = fc.letrec<{ parts: readonly Part[]; part: Part }>(tie => ({
    parts: fc.array(tie('part'), { maxLength: 4, depthIdentifier: 'braces' }),
    part: fc.oneof(
      { depthSize: 'small', depthIdentifier: 'braces' },
      fc.record({ kind: fc.constant('text' as const), text: sign }),
      fc.record({ kind: fc.constant('wildcard' as const), text: fc.constantFrom('*', '**', '?') }),
      fc.record({
        kind: fc.constant('one of' as const),
        isNegated: fc.boolean(),
        characters: fc.array(
          sign.filter(character => character !== '/'),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      fc.record({
        kind: fc.constant('alternatives' as const),
        of: fc.array(tie('parts'), { minLength: 2, maxLength: 3 }),
      }),
    ),
  }))

  function written(parts: readonly Part[]): string {
    return parts
      .map((part, at) => {
        if (part.kind === 'text') return /[*?[\]{},\\]/.test(part.text) ? `\\${part.text}` : part.text
        if (part.kind === 'alternatives') return `{${part.of.map(written).join(',')}}`
        if (part.kind === 'one of') {
          return `[${part.isNegated ? '!' : ''}${part.characters.map(character => `\\${character}`).join('')}]`
        }
        // two consecutive stars would be one of the other kind
        return part.text.startsWith('*') && parts[at - 1]?.kind === 'wildcard' ? `{,}${part.text}` : part.text
      })
      .join('')
  }

  /** The same as a regular expression. It backtracks: only for short patterns. */
  function expression(parts: readonly Part[]): string {
    return parts
      .map(part => {
        if (part.kind === 'text') return RegExp.escape(part.text)
        if (part.kind === 'alternatives') return `(?:${part.of.map(expression).join('|')})`
        if (part.kind === 'wildcard') return { '*': '[^/]*', '**': '.*' }[part.text] ?? '[^/]'
        const characters = part.characters.map(character => RegExp.escape(character)).join('|')
        return part.isNegated ? `(?!${characters})[^/]` : `(?:${characters})`
      })
      .join('')
  }

  /** A name that the pattern matches about half of the time. */
  function name(parts: readonly Part[], picks: readonly number[], depth = 0): string {
    return parts
      .map((part, at) => {
        const pick = picks[(at * 3 + depth) % picks.length] ?? 0
        if (part.kind === 'text') return part.text
        if (part.kind === 'one of') return part.characters[pick % part.characters.length] ?? ''
        if (part.kind === 'wildcard') return ['a', '', 'b/', '😀'][part.text === '?' ? 0 : pick % 4] ?? ''
        return name(part.of[pick % part.of.length] ?? [], picks, depth + 1)
      })
      .join('')
  }

  test('match like the regular expression of the pattern', () => {
    const matched = { yes: 0, no: 0 }
    const picks = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 7 })
    const aText = fc.array(sign, { maxLength: 6 }).map(characters => characters.join(''))
    fc.assert(
      fc.property(aPattern, picks, fc.option(aText), (parts, picked, text) => {
        const pattern = written(parts)
        const candidate = text ?? name(parts, picked)
        const isMatch = new RegExp(`^${expression(parts)}$`, 'su').test(candidate)
        const glob = globOf(pattern)
        expect({ pattern, candidate, isMatch: glob.matches(candidate) }).toEqual({ pattern, candidate, isMatch })
        expect(!isMatch || candidate.startsWith(glob.prefix)).toBe(true)
        matched[isMatch ? 'yes' : 'no'] += 1
      }),
      { numRuns: 5_000 },
    )
    expect(Math.min(matched.yes, matched.no)).toBeGreaterThan(500)
  })

  test('are parsed, or refused as a wrong value, in any order', () => {
    const read = { yes: 0, no: 0 }
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 12 }), characters => {
        const pattern = characters.join('')
        try {
          globOf(pattern).matches(pattern)
          read.yes += 1
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidValue)
          read.no += 1
        }
      }),
      { numRuns: 3_000 },
    )
    expect(Math.min(read.yes, read.no)).toBeGreaterThan(300)
  })
})

/** With a backtracking matcher most of these take from minutes to more than the age of the world. */
describe('patterns designed to be slow are fast', () => {
  /** Stops a match that does not end. */
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
    ['the end is present', '*-*-*-*-eu', `${dashes}x-eu`, true],
    ['eight stars', '*-*-*-*-*-*-*-*-eu', dashes, false],
    ['eight stars, and the end is present', '*-*-*-*-*-*-*-*x-eu', `${dashes}-eu`, false],
    ['stars across slashes', '**-**-**-**-**-**x*', dashes, false],
    ['hundreds of stars', `${'*-'.repeat(500)}x*`, dashes, false],
    ['both kinds', `${'**-*-'.repeat(200)}x*`, dashes, false],
    ['both kinds that match', `${'**-*-'.repeat(200)}*`, dashes, true],
    ['many brackets', '**[!x]'.repeat(150), `${dashes}x`, false],
    ['many brackets that match', '**[-]'.repeat(200), dashes, true],
    ['consecutive braces', `${'{-,--}'.repeat(170)}x`, dashes, false],
    ['braces with equal parts', `${'{-,-}'.repeat(200)}x`, dashes, false],
    ['braces with stars', `${'{*-,**-*-}'.repeat(100)}x`, dashes, false],
    ['nested braces', `${'{-*,'.repeat(200)}-${'}'.repeat(200)}x`, dashes, false],
    ['empty braces', `{-,--*-}**{${','.repeat(900)}}x`, dashes, false],
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

test('an unreadable pattern of another watchdog matches no streams', () => {
  const settings = { match: 'a[', onDue: 'abort-event', maxPerPass: 1, maxShare: 1 }
  const late = aWatchdog(NOW, { id: 'k', writtenMs: NOW - 35_000, next: [{ stream: 'a[', dueMs: NOW - 30_000 }] })
  const unreadable = aWatchdog(NOW, { id: 'o', settings, next: [] })
  expect(upcoming([late, unreadable], NOW)).toEqual([{ stream: 'a[', dueMs: NOW - 30_000 }])
  expect(watchedBy([unreadable])?.('a[')).toBe(false)
})
