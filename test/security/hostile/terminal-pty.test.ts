import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUser, type User } from '../../e2e/program.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { allCommands } from '../../unit/commands/support.ts'
import { formatsOf } from './command-formats.ts'
import { HOSTILE, hostileDocument, XML_HOSTILE } from './hostile-texts.ts'
import { HOSTILE_NAME, hostileSqlite } from './hostile-user.ts'
import { drivenBy, onPty, type Shown } from './on-pty.ts'

const row = trustRow('terminal')

/** Arguments and file names allow more characters than names of streams. */
const WORD = HOSTILE.replaceAll('\u0000', '')
const EVENT = `01${XML_HOSTILE}`

let user: User
let address: string

beforeAll(async () => {
  user = await newUser()
  address = await hostileSqlite(user.home)
  mkdirSync(join(user.home, 'files', HOSTILE_NAME), { recursive: true })
  writeFileSync(join(user.home, 'files', HOSTILE_NAME, 'a.xml'), hostileDocument())
  writeFileSync(join(user.home, 'files', 'b.xml'), `<EventStream><Event ${XML_HOSTILE}`)
})

afterAll(() => user.leave())

/** Arguments of commands that need some, never end, or take long. A new command runs with its operands. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  cancel: ['--lease-wait', '0s'],
  rm: ['--force'],
  log: ['--limit', '20'],
  tail: ['-n', 'all'],
  wait: ['--within', '1ms'],
  watchdog: ['--dry-run'],
  'lease break': ['--yes'],
  'lease renew': ['--lease-id', '11111111-1111-4111-8111-111111111111'],
  'lease change': ['--lease-id', '11111111-1111-4111-8111-111111111111'],
  'lease release': ['--lease-id', '11111111-1111-4111-8111-111111111111'],
  'event advance': ['--next', 'N'],
  'event set': ['--tag', XML_HOSTILE],
  doctor: ['-v'],
  work: ['--name', 'w', '--once', '--', 'true'],
  'lab lease': ['--container', WORD],
  'lab stream': ['--container', WORD],
}

/** Dashboard and demo have tests of their own. */
const ELSEWHERE = /^(top|demo)$/
const WITHOUT_STORE = /^(completion|help|demo|context \w+|lab \w+)$/

interface Line {
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** One line for each command, at night for each format of each, as listed by the program. */
function commandLines(): Line[] {
  return allCommands()
    .filter(command => command.commands.length === 0 && !ELSEWHERE.test(pathOf(command)))
    .flatMap(command => {
      const path = pathOf(command)
      const store = WITHOUT_STORE.test(path) ? [] : ['--store', address]
      const words = [...path.split(' '), ...store]
      const behind = [
        ...command.registeredArguments.flatMap(argument => operandOf(argument.name())),
        ...(MORE[path] ?? []),
      ]
      const operands = path === 'exec' ? ['s', '02.00', '--', 'true'] : path === 'work' ? (MORE.work ?? []) : behind
      const formats = sized(formatsOf(command).slice(0, 1), formatsOf(command))
      const flags = formats.length === 0 ? [[]] : formats.map(format => ['-o', format])
      return flags.map(flag => ({ words: [...words, ...flag, ...operands] }))
    })
}

function pathOf(command: Command): string {
  return command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name()
}

function operandOf(name: string): string[] {
  switch (name) {
    case 'STREAM':
      return [HOSTILE_NAME]
    case 'ID':
      return [EVENT]
    case 'SOURCE':
      return [join(user.home, 'files')]
    case 'SHELL':
      return ['bash']
    default:
      return [WORD]
  }
}

/** Errors that quote arguments, the environment, or files. */
function faultLines(): Line[] {
  const store = ['--store', address]
  return [
    { words: ['show', 'bad', ...store] },
    { words: ['lease', 'break', HOSTILE_NAME, ...store] },
    { words: ['rm', '--all', ...store] },
    { words: ['watchdog', '--once', ...store] },
    { words: ['watchdog', '--once', '-v', '-o', 'json', ...store] },
    { words: ['watchdog', '--once', '--on-failed', JSON.stringify(['printf', WORD]), ...store] },
    { words: [WORD] },
    { words: ['ls', `--${WORD}`] },
    { words: ['ls', '--debug', '--store', `sqlite:${WORD}`] },
    { words: ['ls', '--store', WORD] },
    { words: ['ls'], env: { LEASECTL_STORE: WORD } },
    { words: ['ls', ...store], env: { LEASECTL_OUTPUT: WORD } },
    { words: ['ls'], env: { LEASECTL_CONTEXT: WORD } },
    { words: ['event', 'touch', 's'], env: { LEASECTL_EVENT: WORD, LEASECTL_STORE: address } },
    { words: ['init', 'n', '--from', WORD, ...store] },
    { words: ['watchdog', '--config', WORD, ...store] },
    { words: ['context', 'list'], env: { XDG_CONFIG_HOME: join(user.home, 'config') } },
    { words: ['__complete', 'bash', `leasectl show --store ${address} `] },
    { words: ['__complete', 'zsh', `leasectl event start --store ${address} s `] },
    { words: ['__complete', 'fish', `leasectl ls --context `] },
  ]
}

function run({ words, env = {} }: Line): Promise<Shown> {
  const all = { ...user.env, TERM: 'xterm-256color', ...env }
  return onPty({ file: process.execPath, argv: [user.bin, ...words], env: all, cwd: user.home, answer: 'no\r' })
}

/** Programs in parallel without slowing each other down. */
async function runAll(lines: readonly Line[], atOnce = 3): Promise<readonly { line: Line; shown: Shown }[]> {
  const results: { line: Line; shown: Shown }[] = []
  const rest = [...lines]
  const next = async (): Promise<void> => {
    for (let line = rest.shift(); line !== undefined; line = rest.shift())
      results.push({ line, shown: await run(line) })
  }
  await Promise.all(Array.from({ length: atOnce }, next))
  return results
}

test('no command makes a terminal obey its data', { timeout: sized(240_000, 900_000) }, async () => {
  mkdirSync(join(user.home, 'config', 'leasectl'), { recursive: true })
  const contexts = JSON.stringify({ contexts: { [WORD]: { store: WORD } } })
  writeFileSync(join(user.home, 'config', 'leasectl', 'contexts.json'), contexts)
  const results = await runAll([...commandLines(), ...faultLines()])
  const driven = results.filter(({ shown }) => shown.driven.length > 0)
  expect(driven.map(({ line, shown }) => [line.words.join(' '), shown.driven])).toEqual([])
  const odd = results.filter(({ shown }) => shown.exit === 1 || shown.exit === 137)
  expect(odd.map(({ line, shown }) => [line.words.join(' '), shown.exit, shown.written.slice(-400)])).toEqual([])
  const reached = results.filter(({ shown }) => shown.hasHostile).length
  expect(reached).toBeGreaterThan(results.length / 2)
  row.injected('programs on a terminal that printed hostile texts', reached)
  row.figure('cells', results.length)
  row.figure('control bytes from data', driven.length, '0')
})

test('the test detects each sequence that is let through', async () => {
  const sequences = [
    '\u001b]0;x\u0007',
    '\u001b]8;;x\u001b\\',
    '\u001b]52;c;eA==\u0007',
    '\u001bPq\u001b\\',
    '\u009b2J',
    '\r',
    '\b',
  ]
  for (const sequence of [...sequences, '\u202e', '\u2066', '\u0085', '\u007f', '\u0007', XML_HOSTILE, HOSTILE]) {
    expect(await drivenBy(`\u001b[1mname\u001b[22m  a${sequence}b\r\n`), JSON.stringify(sequence)).not.toEqual([])
  }
  expect(await drivenBy('\u001b[1mname\u001b[22m  a\r\n\u001b[2K\r\n')).toEqual([])
  // like a program without protection: the document unchanged
  const shown = await onPty({
    file: '/bin/cat',
    argv: [join(user.home, 'files', 'b.xml')],
    env: { TERM: 'xterm' },
    cwd: user.home,
  })
  expect(shown.driven).not.toEqual([])
  row.control('a program that prints texts as they are', shown.driven.length > 0)
})
