import { expect, test } from 'vitest'
import { exposition } from '../../../../src/formats/check/prometheus.ts'

test('each gauge has its help and type before its samples, and every line ends with a newline', () => {
  const samples = [{ labels: { status: 'init', store: undefined }, value: 2 }, { value: 0.25 }]
  expect(exposition([{ name: 'a_streams', help: 'Streams.', samples }])).toBe(
    '# HELP a_streams Streams.\n# TYPE a_streams gauge\na_streams{status="init"} 2\na_streams 0.25\n',
  )
})

test('a gauge without samples is omitted', () => {
  expect(exposition([{ name: 'a', help: 'A.', samples: [] }])).toBe('')
})

test('no text can break out of its label', () => {
  const text = exposition([
    { name: 'a', help: 'A.', samples: [{ labels: { x: 'a"} 1\nb{x="\\\u001b[2J\ud800' }, value: 1 }] },
  ])
  expect(text.split('\n')[2]).toBe('a{x="a\\"} 1␊b{x=\\"\\\\␛[2J\ufffd"} 1')
})
