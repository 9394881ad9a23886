import { describe, expect, test } from 'vitest'
import {
  type CommandOrigin,
  commandIdOf,
  parseCommandLines,
  readCommand,
} from '../../../../src/subscriptions/commands/command.ts'

const ORIGIN: CommandOrigin = { subscription: 'billing', id: 'b7e0@12' }

function line(command: object): string {
  return JSON.stringify(command)
}

describe('a line of LEASECTL_COMMANDS', () => {
  test('is a command with the fields of its operation', () => {
    const lines = [
      line({ do: 'init', stream: 'invoices/1', root: { name: 'Invoice', key: '4711' }, forks: ['A', 'B'], join: 'C' }),
      '',
      line({ do: 'append', stream: 'cars/7', step: { name: 'Move', data: '3,4' }, create: true, key: 'k' }),
      line({ do: 'signal', stream: 's', name: 'paid', data: '{"amount":12}', every: true, why: 'paid in full' }),
      line({ do: 'cancel', stream: 's', event: '01', msg: 'no', ifRefused: 'ignore' }),
      line({ do: 'abort', stream: 's', noCompensate: true }),
      line({ do: 'retry', stream: 's', canceled: true }),
      line({ do: 'complete', stream: 's', event: '01', result: 'ok', owner: 'w', fence: 2 }),
      line({ do: 'fail', stream: 's', event: '01', transient: true, retry: '5 2s..1m' }),
      line({ do: 'set', stream: 's', event: '00', attributes: { tag: 'x', timeout: '2h' } }),
    ]
    const commands = parseCommandLines(lines.join('\n'))
    expect(commands.map(({ operation }) => operation.op)).toEqual([
      'init',
      'append',
      'signal',
      'cancel',
      'abort',
      'retry',
      'complete',
      'fail',
      'set',
    ])
    expect(commands[0]?.operation).toMatchObject({
      root: { name: 'Invoice', key: '4711' },
      forks: [{ name: 'A' }, { name: 'B' }],
      join: { name: 'C' },
      hold: false,
    })
    expect(commands[1]).toMatchObject({ create: 'Session', key: 'k', stream: 'cars/7' })
    expect(commands[1]?.operation).not.toHaveProperty('create')
    expect(commands[2]).toMatchObject({ why: 'paid in full', operation: { name: 'paid', data: { size: 13 } } })
    expect(commands[3]).toMatchObject({ ifRefused: 'ignore', operation: { op: 'cancel', event: '01', msg: 'no' } })
    expect(commands[3]?.operation).not.toHaveProperty('stream')
    expect(commands[8]?.operation).toMatchObject({ attributes: { tag: 'x', timeout: '02:00:00' } })
  })

  test('may end in a carriage return', () => {
    expect(parseCommandLines(`${line({ do: 'retry', stream: 's' })}\r\n\r\n`)).toHaveLength(1)
  })

  test.each([
    ['no JSON', 'init invoices/1', 'line 1: not JSON'],
    ['a list', '[]', 'line 1: a command is an object with do, stream'],
    ['no stream', line({ do: 'init' }), 'line 1: stream is missing: the name of the stream'],
    ['two streams', line({ do: 'init', stream: ['a', 'b'] }), 'line 1: stream is the name of the stream that'],
    [
      'streams',
      line({ do: 'retry', streams: ['a'], stream: 'a' }),
      'line 1: streams is not known: did you mean stream?',
    ],
    [
      'a stream of leasectl itself',
      line({ do: 'init', stream: '.leasectl/x' }),
      'line 1: stream: names under .leasectl/',
    ],
    ['an empty stream', line({ do: 'init', stream: '' }), 'line 1: stream: "" is not a valid stream name'],
    ['no operation', line({ stream: 's' }), 'line 1: do is missing: one of init, append'],
    ['an operation for workers', line({ do: 'start', stream: 's' }), 'line 1: do is one of init, append'],
    ['a field of no operation', line({ do: 'init', stream: 's', event: '1' }), 'line 1: event is not known'],
    ['an internal field', line({ do: 'abort', stream: 's', expired: {} }), 'line 1: expired is not known'],
    ['no event', line({ do: 'complete', stream: 's' }), 'line 1: event is missing'],
    ['an attribute that is none', line({ do: 'set', stream: 's', event: '0', attributes: { status: 'x' } }), 'status'],
    ['another ifRefused', line({ do: 'init', stream: 's', ifRefused: 'skip' }), 'ifRefused is one of fail, ignore'],
    ['an empty key', line({ do: 'init', stream: 's', key: '' }), 'key is a text that is not empty'],
  ])('is refused with %s', (_, text, message) => {
    expect(() => parseCommandLines(text)).toThrow(message)
  })

  test('is named by its number if it is wrong', () => {
    const good = line({ do: 'retry', stream: 's' })
    expect(() => parseCommandLines(`${good}\n\n${good}\n{}`)).toThrow('line 4: do is missing')
  })

  test('is one of at most 100', () => {
    const all = Array.from({ length: 101 }, (_, at) => line({ do: 'retry', stream: `s${at}` }))
    expect(() => parseCommandLines(all.join('\n'))).toThrow('at most 100 commands, not 101')
    expect(parseCommandLines(all.slice(1).join('\n'))).toHaveLength(100)
  })
})

describe('a command of a library program', () => {
  test('takes what the library takes: dates, bytes, data', () => {
    const wake = new Date('2026-12-01T10:00:00Z')
    const command = readCommand(
      { do: 'init', stream: 's', root: { name: 'A', wake, data: Buffer.from('x') } },
      'command',
    )
    expect(command.operation).toMatchObject({ root: { wake: '2026-12-01T10:00:00.000Z', data: { size: 1 } } })
  })

  test('names the wrong field', () => {
    expect(() => readCommand({ do: 'init' }, 'command')).toThrow('command.stream is missing')
    expect(() => readCommand('init', 'command')).toThrow('command is an object with do, stream')
  })
})

describe('the id of a command', () => {
  const command = readCommand({ do: 'init', stream: 'invoices/1' }, 'command')

  test('is made of subscription, delivery, operation and stream', () => {
    expect(commandIdOf(ORIGIN, command)).toBe('saga:billing:b7e0@12:init:invoices/1')
  })

  test('has the key in place of the stream', () => {
    expect(commandIdOf(ORIGIN, { ...command, key: 'second' })).toBe('saga:billing:b7e0@12:init:second')
  })

  test('encodes characters that ids cannot have', () => {
    expect(commandIdOf(ORIGIN, { ...command, key: 'ä b' })).toBe('saga:billing:b7e0@12:init:%C3%A4%20b')
  })

  test('hashes what would be too long, each key to another id', () => {
    const long = 'x'.repeat(200)
    const ids = [long, `${long}y`, `${long}z`].map(key => commandIdOf(ORIGIN, { ...command, key }))
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) {
      expect(id.length).toBeLessThanOrEqual(200)
      expect(id).toMatch(/^saga:billing:b7e0@12:init:[0-9a-f]{64}$|^saga:billing:b7e0@12:init:x+[0-9a-f]{64}$/)
    }
  })
})
