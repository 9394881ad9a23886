import { expect, it } from 'vitest'
import { nearest } from '../../../src/util/strings.ts'

it.each<[string, readonly string[], string | undefined]>([
  // replaced, missing, too much, swapped: up to four tenths of the letters
  ['cancle', ['abort', 'cancel'], 'cancel'],
  ['retri', ['retry'], 'retry'],
  ['rtry', ['retry'], 'retry'],
  ['retrry', ['retry'], 'retry'],
  ['watchdgo', ['watch', 'watchdog'], 'watchdog'],
  // one letter may be wrong in the shortest word
  ['a', ['b'], 'b'],
  ['ab', ['cd'], undefined],
  ['abcde', ['abxyz'], undefined],
  ['abcde', ['abxye'], 'abxye'],
  // the beginning of a word means it, however much follows
  ['comp', ['completion'], 'completion'],
  ['comp', ['camp', 'completion'], 'camp'],
  ['', ['completion'], undefined],
  ['', ['a'], 'a'],
  // of those as near the first
  ['bat', ['cat', 'hat'], 'cat'],
  ['bat', ['cab', 'hat'], 'hat'],
  ['bat', [], undefined],
  ['bat', ['bat', 'cat'], 'bat'],
])('%s, of %j: %s', (word, candidates, meant) => {
  expect(nearest(word, candidates)).toBe(meant)
})

it('long words take no time', () => {
  const [long, longer] = ['a'.repeat(64), 'a'.repeat(65)]
  expect(nearest(long, [`b${long.slice(1)}`])).toBe(`b${long.slice(1)}`)
  expect(nearest(longer, [`b${longer.slice(1)}`])).toBeUndefined()
  expect(nearest(long, [`b${longer.slice(1)}`])).toBeUndefined()
})
