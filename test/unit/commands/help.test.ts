import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { pathOf } from '../../../src/cli/command.ts'
import { allCommands, cli, newWorld, STATE_HOME } from './support.ts'

const help = async (...words: string[]) => (await cli(newWorld(), ['help', ...words])).stdout

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: part => (text += part) })
  command.outputHelp()
  return text
}

test('--help of every command begins with examples, and so does that of groups and of the program', () => {
  for (const command of allCommands()) {
    const own = pathOf(command)
    const start = command.parent === null ? 'leasectl ' : `leasectl ${own}`
    expect(helpOf(command), own).toMatch(/^Examples:\n/)
    const examples = examplesOf(command)
    expect(
      examples.filter(line => !line.includes('   # ')),
      own,
    ).toEqual([])
    const called = examples.map(line => line.trim()).filter(line => line.startsWith(start))
    expect(called.length, own).toBeGreaterThan(0)
  }
})

test('the program accepts every example', async () => {
  for (const command of allCommands()) {
    for (const line of examplesOf(command)) {
      const argv = wordsOf(line.replace(/ {3}# .*$/, '').replace(/ [>|] .*$/, ''))
      // arguments after -- belong to another program
      const end = argv.includes('--') ? argv.indexOf('--') : argv.length
      const ran = await cli(newWorld(), [...argv.slice(0, end), '--help', ...argv.slice(end)])
      expect({ line, exit: ran.exit, stderr: ran.stderr }).toEqual({ line, exit: 0, stderr: '' })
    }
  }
})

function examplesOf(command: Command): readonly string[] {
  return helpOf(command).split('\n\n')[0]?.split('\n').slice(1) ?? []
}

const VARIABLES: Readonly<Record<string, string>> = { $id: '11111111-1111-4111-8111-111111111111', $fence: '1' }

/** Splits like a shell, as far as examples need; the arguments after the program's name. */
function wordsOf(line: string): string[] {
  const words = line.trim().match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  const plain = words.slice(1).map(word => word.replace(/['"]/g, ''))
  return plain.map(word => VARIABLES[word] ?? word)
}

test('the list of commands matches the visible commands, each in a group', async () => {
  const { stdout } = await cli(newWorld(), ['--help'])
  expect(stdout).not.toContain('__complete')
  expect(stdout).not.toContain('Commands:')
  for (const title of ['Inspect:', 'Modify:', 'Monitor:', 'Workers and leases:', 'Settings and help:'])
    expect(stdout).toContain(title)
})

test('help of a group takes a command of it', async () => {
  expect(await cli(newWorld(), ['event', 'help', 'start'])).toEqual(await cli(newWorld(), ['event', 'start', '--help']))
  expect(await cli(newWorld(), ['watchdog', 'help', 'status'])).toMatchObject({ exit: 0 })
})

test('topics', async () => {
  expect(await help('addresses')).toContain('azurite:CONTAINER')
  for (const way of ['--store', '-c NAME', 'LEASECTL_STORE', 'LEASECTL_CONTEXT', 'the current context']) {
    expect(await help('addresses')).toContain(`\n  ${way}`)
  }
  for (const name of ['LEASECTL_OWNER', 'LEASECTL_CONTEXT', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME']) {
    expect(await help('environment')).toMatch(new RegExp(`^${name} +\\S`, 'm'))
  }
  expect(await help('environment')).toContain('OTEL_EXPORTER_OTLP_HEADERS')
  for (const word of ['--match', '--streams', '--all', '--yes', '--expect', '--rerun', '--dry-run']) {
    expect(await help('selections')).toContain(word)
  }
})

test('help environment ends with the folders and files of this user', async () => {
  const env = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' }
  expect((await cli(newWorld(), ['help', 'environment'], { env })).stdout).toContain(
    [
      '',
      'For you these are:',
      '',
      '  embedded store  memory:',
      '  contexts        /c/leasectl/contexts.json',
      '  top             /c/leasectl/top.json',
      '  run files       /s/leasectl/runs',
      '',
    ].join('\n'),
  )
})

test.each([undefined, 80, 60, 200])('topics fit a terminal of %s columns without losing a word', async columns => {
  const texts: string[] = []
  for (const topic of ['addresses', 'selections', 'environment', 'exit-codes']) {
    const setting = columns === undefined ? {} : { columns }
    const { stdout } = await cli(newWorld(), ['help', topic], setting)
    // a path is never broken: it can be copied
    const lines = stdout.split('\n').filter(line => !line.includes(STATE_HOME))
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(Math.min(columns ?? 100, 100))
    expect(stdout.split(/\s+/)).toEqual((await help(topic)).split(/\s+/))
    texts.push(stdout)
  }
  // text in a separate column continues below itself
  if (columns === 60)
    expect(texts.join('')).toContain(
      '\n   6  yes      busy: lease-held for longer than\n               --lease-wait, or event claimed by another\n',
    )
})

test('help on a command is its --help; without an argument it is that of the program', async () => {
  expect(await help('lease', 'break')).toBe((await cli(newWorld(), ['lease', 'break', '--help'])).stdout)
  expect(await help('context')).toBe((await cli(newWorld(), ['context', '--help'])).stdout)
  expect(await help()).toBe((await cli(newWorld(), ['--help'])).stdout)
})

test.each(['event', 'lease', 'lab', 'context', 'watchdog'])('%s help is its --help, with exit 0', async group => {
  const { stdout } = await cli(newWorld(), [group, '--help'])
  expect(await cli(newWorld(), [group, 'help'])).toMatchObject({ exit: 0, stdout, stderr: '' })
  for (const flags of [['--help'], ['-h'], ['-q']])
    expect(await cli(newWorld(), [group, 'help', ...flags])).toMatchObject({ exit: 0, stdout, stderr: '' })
  expect(await cli(newWorld(), ['-q', group, 'help', '--help'])).toMatchObject({ exit: 0, stdout, stderr: '' })
  expect(stdout).toContain('\n  help [COMMAND] ')
})

test.each([
  ['help nix', 'One of exit-codes'],
  ['help selection', 'did you mean selections?'],
  ['help context ad', 'did you mean add?'],
  ['contexts', 'Did you mean context?'],
  ['completoin bash', 'Did you mean completion?'],
  ['context ad', 'Did you mean add?'],
  ['ls --contxt prod', 'Did you mean --context?'],
  ['__complet', 'unknown command'],
  ['get orders/1', 'Did you mean show?'],
  ['describe orders/1', 'Did you mean show?'],
  ['kill orders/1', 'Did you mean cancel?'],
  ['terminate orders/1', 'Did you mean cancel?'],
  ['stop orders/1', 'Did you mean cancel?'],
  ['logs orders/1', 'Did you mean log?'],
  ['ps', 'Did you mean ls?'],
  ['ui', 'Did you mean top?'],
  ['watch', 'Did you mean top?'],
  ['status', 'Did you mean ls?'],
  ['remove orders/1', 'Did you mean rm?'],
  ['pause orders/1', 'Did you mean suspend?'],
  ['unlock orders/1', 'Did you mean lease break?'],
  ['history orders/1', 'Did you mean log?'],
  ['version', 'Did you mean --version?'],
  ['event strat s 01', 'Did you mean start?'],
  ['event help strat', 'no help for strat'],
  ['nope', 'leasectl --help shows its commands.'],
  ['info', 'leasectl --help shows its commands.'],
  ['lease nope', 'leasectl lease --help shows its commands.'],
  ['event', 'leasectl event --help shows its commands.'],
  ['ls --before 1h', 'leasectl ls --help shows its flags.'],
  ['lease ls --sort name', 'leasectl lease ls --help shows its flags.'],
  ['lease renew s', 'leasectl lease renew --help shows its flags.'],
])('%s: the nearest name is suggested', async (line, hint) => {
  const ran = await cli(newWorld(), line.split(' '))
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(hint)
  expect(ran.stderr).not.toContain('__complete?')
})
