import { expect, test } from 'vitest'
import { highlightMatches } from '../../../../src/formats/terminal/highlight.ts'
import type { Paint } from '../../../../src/formats/terminal/style.ts'

const marks: Paint = (style, text) => (style === 'mark' ? `<${text}>` : text)
const RED = '\u001b[31m'
const PLAIN = '\u001b[39m'

test('highlight marks all matches of several patterns', () => {
  expect(highlightMatches('a cat, a dog, a cat', [/cat/g, /dog/g], marks)).toBe('a <cat>, a <dog>, a <cat>')
  expect(highlightMatches('abcd', [/ab/g, /bc/g], marks)).toBe('<abc>d')
  expect(highlightMatches('nothing', [/x/g, /y*/g], marks)).toBe('nothing')
})

test('highlight finds matches across colors, which stay', () => {
  const line = `one ${RED}two${PLAIN} three`
  expect(highlightMatches(line, [/e two t/g], marks)).toBe(`on<e >${RED}<two>${PLAIN}< t>hree`)
  expect(highlightMatches(line, [/31m/g], marks)).toBe(line)
})

test('highlight does not split a character', () => {
  expect(highlightMatches('a😀b', [/\ud83d/g], marks)).toBe('a<😀>b')
})
