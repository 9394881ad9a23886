import type { Command } from 'commander'
import { allCommands } from '../unit/commands/support.ts'

const ID = ['--lease-id', '11111111-1111-4111-8111-111111111111']

/** The arguments of each command; a test compares them with the commands of the program. `FILES`: a folder. */
const ARGUMENTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ls: [[], ['-o', 'json'], ['-o', 'yaml']],
  show: [['s'], ['s', '-o', 'json'], ['s', '-o', 'xml']],
  log: [['s'], ['--all', '-o', 'ndjson'], ['--audit']],
  tail: [
    ['s', '-n', 'all'],
    ['s', '-o', 'ndjson'],
  ],
  stats: [['--all', '-o', 'json']],
  check: [[], ['-o', 'json'], ['-o', 'prometheus'], ['-o', 'nagios']],
  doctor: [['--all', '-v'], ['--deep'], ['--all', '-o', 'json']],
  wait: [['s', '--within', '1ms', '-o', 'json']],
  init: [['s2'], ['s2', '-o', 'json'], ['s3', '--create-container']],
  cancel: [['s', '-o', 'json']],
  abort: [['s', '-m', 'why']],
  retry: [['s', '-e', '00']],
  ack: [['s', '-m', 'why']],
  suspend: [['s', '-m', 'why', '--stop']],
  resume: [['s']],
  events: [[], ['--due', '-o', 'json']],
  signal: [['s', 'paid', '--data', '12']],
  workers: [[], ['--events', '-o', 'json']],
  rm: [['s', '--yes']],
  export: [['s'], ['--all', '--to', 'FILES/out'], ['s', '-o', 'otlp', '--endpoint', 'http://127.0.0.1:9']],
  import: [['FILES', '-v', '-o', 'json']],
  'inbox drain': [['orders', '--append', 'A', '--name', 'a/{/id}', '--once']],
  'inbox dead ls': [['orders'], ['orders', '-o', 'json']],
  'inbox dead show': [['orders', '4711']],
  'inbox dead retry': [['orders', '--all']],
  'inbox dead drop': [['orders', '4711']],
  exec: [['s', '00', '--', 'true']],
  work: [['--name', 'A', '--once', '--', 'true']],
  subscribe: [['--as', 'b', '-o', 'ndjson', '--', 'no-such-command']],
  'subscription ls': [[], ['-o', 'json']],
  'subscription show': [['b']],
  'subscription parked': [['b', '-o', 'json']],
  'subscription retry': [
    ['b', 's'],
    ['b', '--all'],
  ],
  'subscription skip': [['b', 's']],
  'subscription reset': [['b', '--from', 'start', '--yes']],
  'subscription rm': [['b', '--yes']],
  watchdog: [
    ['--once', '--config', 'FILES/w.yaml'],
    ['--dry-run', '-o', 'json'],
  ],
  'watchdog status': [[], ['-o', 'json']],
  'event start': [['s', '00']],
  'event touch': [['s', '00']],
  'event release': [['s', '00']],
  'event advance': [['s', '00', '--next', 'N']],
  'event complete': [['s', '00', '-o', 'json']],
  'event fail': [['s', '00', '-m', 'why']],
  'event data': [
    ['s', '00'],
    ['s', '00', '-o', 'json'],
    ['s', '00', '--input'],
    ['s', '00', '--result'],
  ],
  'event append': [['s', '--name', 'A', '--command-id', 'c1']],
  'event skip': [['s', '00', '-m', 'why']],
  'event set': [['s', '00', '--tag', 'x']],
  'event edit': [['s', 'FILES/a.xml', ...ID]],
  'lease ls': [[], ['-o', 'json']],
  'lease show': [['s']],
  'lease acquire': [['s']],
  'lease renew': [['s', ...ID]],
  'lease change': [['s', ...ID]],
  'lease release': [['s', ...ID]],
  'lease break': [
    ['s', '--yes'],
    ['s', '--yes', '-o', 'json'],
  ],
  'lab lease': [['--store', 'sqlite:FILES/x.db']],
  'lab stream': [['--store', 'sqlite:FILES/x.db']],
  top: [[]],
  demo: [['--speed', '100000']],
  completion: [['bash'], ['zsh'], ['fish']],
  'context add': [['prod', '--store', 'azure:acct/events', '--credential-file', 'FILES/credential']],
  'context set': [['prod', '--read-only']],
  'context use': [['prod'], ['none']],
  'context list': [[], ['-o', 'json']],
  'context test': [['prod'], ['-o', 'json']],
  'context remove': [['prod']],
  'inbox create': [['orders']],
  'inbox put': [['orders', 'FILES/orders.ndjson']],
  'inbox serve': [['none'], ['orders', '--token-file', 'FILES/orders.ndjson', '-o', 'ndjson']],
  'inbox ls': [[], ['-o', 'json']],
  'inbox show': [['orders'], ['orders', '-o', 'json']],
  'inbox tail': [['orders'], ['orders', '-n', 'all', '-o', 'ndjson']],
  'inbox rm': [['orders', '--force', '--yes']],
  'runs ls': [[], ['-o', 'json']],
  'runs show': [['last'], ['last', '-o', 'json']],
  'runs prune': [['--older-than', '30d']],
  help: [['ls'], ['-o', 'json']],
}

/** Command lines of the program, every command at least once; the path first. */
export function commandLines(files: string): readonly (readonly [path: string, argv: readonly string[]])[] {
  return leaves().flatMap(path =>
    (ARGUMENTS[path] ?? []).map(
      given => [path, [...path.split(' '), ...given.map(word => word.replace('FILES', files))]] as const,
    ),
  )
}

/** Commands that are not called here. */
export function uncalled(): string[] {
  return leaves().filter(path => ARGUMENTS[path] === undefined)
}

function leaves(): string[] {
  return allCommands()
    .filter(({ commands, parent }) => commands.length === 0 || parent?.parent === null)
    .filter(command => command.commands.length === 0 || command.name() === 'watchdog')
    .map(pathOf)
}

function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name()
}
