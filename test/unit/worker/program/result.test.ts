import { describe, expect, test } from 'vitest'
import { Tail } from '../../../../src/process/output.ts'
import type { ProgramFate } from '../../../../src/process/run-program.ts'
import { dataOf, type EventData } from '../../../../src/stream/data.ts'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import { lastLines, type ProgramSuccessors, programEnding } from '../../../../src/worker/program/result.ts'

function ended(
  fate: ProgramFate | number,
  { said = '', stderr = '', result = () => undefined, ...successors }: Given = {},
) {
  const tail = new Tail(100)
  tail.add(Buffer.from(stderr))
  return programEnding(
    { fate: typeof fate === 'number' ? { kind: 'exited', code: fate } : fate, tail },
    { output: () => said, result },
    successors,
  )
}

interface Given extends ProgramSuccessors {
  readonly said?: string
  readonly stderr?: string
  readonly result?: () => EventData | undefined
}

describe('a program with exit code 0', () => {
  test('completes its event, with its message', () => {
    expect(ended(0, { stderr: 'a warning' })).toEqual({ ending: { op: 'complete' } })
    expect(ended(0, { said: 'msg=12 results' })).toEqual({ ending: { op: 'complete', msg: '12 results' } })
  })

  test('advances its event if successors are named, with the attributes of both', () => {
    const flags = { forks: ['A', 'B'], join: 'J', attributes: { topic: 't', tag: 'x' } }
    const spec = (name: string) => ({ name, topic: 't', tag: 'y' })
    expect(ended(0, { ...flags, said: 'tag=y\nmsg=done' })).toEqual({
      ending: { op: 'advance', forks: [spec('A'), spec('B')], join: spec('J') },
      msg: 'done',
    })
  })

  test('overrides all successors of the flags if it names its own', () => {
    const flags = { forks: ['A', 'B'], join: 'J', next: 'N' }
    expect(ended(0, { ...flags, said: 'next=M' }).ending).toEqual({ op: 'advance', next: { name: 'M' } })
    expect(ended(0, { next: 'N', said: 'fork=X\njoin=J' }).ending).toEqual({
      op: 'advance',
      forks: [{ name: 'X' }],
      join: { name: 'J' },
    })
  })

  test('fails its event if its output is invalid: the intention is not guessed', () => {
    for (const said of ['nexd=N', 'tag=of nobody']) {
      const { ending, badOutput = '' } = ended(0, { said })
      expect(ending).toEqual({ op: 'fail', msg: `ended with 0, but ${badOutput}` })
      expect(badOutput).toMatch(/^LEASECTL_OUTPUT cannot be used: ./)
    }
  })
})

describe('a program that leaves a result', () => {
  const data = dataOf(Buffer.from('found'))
  const result = () => data
  const tooLong = () => {
    throw new InvalidValue('it has more than 16 MiB')
  }

  test('gives it to its event, however the event ends', () => {
    expect(ended(0, { result }).ending).toEqual({ op: 'complete', result: data })
    expect(ended(0, { result, next: 'N' }).ending).toEqual({ op: 'advance', next: { name: 'N' }, result: data })
    expect(ended(3, { result }).ending).toEqual({ op: 'fail', msg: 'exit 3', result: data })
  })

  test('that cannot be used fails its event and says so', () => {
    const why = 'LEASECTL_RESULT cannot be used: it has more than 16 MiB'
    expect(ended(0, { result: tooLong })).toEqual({
      ending: { op: 'fail', msg: `ended with 0, but ${why}` },
      badOutput: why,
    })
    expect(ended(3, { result: tooLong, stderr: 'no stock' }).ending).toEqual({ op: 'fail', msg: `no stock\n${why}` })
  })
})

describe('a program with another result fails its event', () => {
  test('with its own message, otherwise the last lines of stderr, otherwise the exit code or signal', () => {
    expect(ended(3, { said: 'msg=no stock', stderr: 'x' }).ending).toEqual({ op: 'fail', msg: 'no stock' })
    expect(ended(3, { stderr: 'no\nstock\n\n' }).ending).toEqual({ op: 'fail', msg: 'no\nstock' })
    expect(ended(3).ending).toEqual({ op: 'fail', msg: 'exit 3' })
    expect(ended({ kind: 'killed', signal: 'SIGKILL' }).ending).toEqual({ op: 'fail', msg: 'killed by SIGKILL' })
  })

  test('even if its output is invalid', () => {
    expect(ended(3, { said: 'nonsense', stderr: 'why' })).toEqual({ ending: { op: 'fail', msg: 'why' } })
  })
})

describe('the last lines of stderr', () => {
  const lines = (text: string, isCut = false) => lastLines(Buffer.from(text), isCut)

  test('are the last ten, as a terminal would show them', () => {
    expect(lines('10%\r50%\r100%\r\n\u001b[31mred\u001b[0m\tend  \r\n')).toBe('100%\nred\tend')
    expect(lines(Array.from({ length: 30 }, (_, at) => `${at}\n`).join(''))).toBe(
      '20\n21\n22\n23\n24\n25\n26\n27\n28\n29',
    )
  })

  test('do not begin with a partial line, if there is another', () => {
    expect(lines('alf\nwhole', true)).toBe('whole')
    expect(lines('alf', true)).toBe('alf')
  })

  test('fit into a message, whatever their content', () => {
    for (const text of [
      'é'.repeat(8_000),
      '\u001b]'.repeat(4_000),
      '\ud83d\ude00'.repeat(2_000),
      'x\u0000\n'.repeat(3_000),
    ])
      expect(Buffer.byteLength(lines(text, true))).toBeLessThanOrEqual(4_096)
    expect(lines(`${'y'.repeat(5_000)}\nlast`)).toBe('last')
  })
})

test('are kept for any amount of output in constant memory', () => {
  const tail = new Tail(10)
  for (let at = 0; at < 1_000; at++) tail.add(Buffer.from(`${at},`))
  expect(Buffer.from(tail.bytes()).toString()).toBe('7,998,999,')
  expect(tail.isCut).toBe(true)
  tail.add(Buffer.alloc(100, 'z'))
  expect(Buffer.from(tail.bytes()).toString()).toBe('zzzzzzzzzz')
  const short = new Tail(10)
  short.add(Buffer.from('0123456789'))
  expect([Buffer.from(short.bytes()).toString(), short.isCut]).toEqual(['0123456789', false])
})

test('exit code 75 is a failure that passes', () => {
  expect(ended(75, { stderr: '503' })).toEqual({ ending: { op: 'fail', msg: '503', transient: true } })
  expect(ended({ kind: 'killed', signal: 'SIGKILL' }).ending).not.toHaveProperty('transient')
})
