import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pathOf } from '../../../src/cli/command.ts'
import type { OpenOptions, StoreChoice } from '../../../src/cli/runtime.ts'
import { streamNames } from '../../../src/commands/completion/candidates.ts'
import { typedLine } from '../../../src/commands/completion/line.ts'
import { answerText } from '../../../src/commands/completion/scripts.ts'
import { SHELLS } from '../../../src/commands/completion/shells.ts'
import { register } from '../../../src/commands/completion.ts'
import { runCommandLine } from '../../../src/commands/main.ts'
import type { ListQuery, StreamStore } from '../../../src/store/store.ts'
import { allCommands, cli, fakeRuntime, newWorld, optionsFrom, type Setting, type World } from './support.ts'

/** The word breaks of bash. */
const BREAKS = ' \t\n"\'><=;|&(:'

let world: World
beforeAll(async () => {
  world = newWorld()
  await cli(world, ['init', 'orders/4711', '--fork', 'Search,Pay'])
  await cli(world, ['init', 'orders/4712'])
  await cli(world, ['init', 'prod/1'])
})

async function addStreams(...names: readonly string[]): Promise<void> {
  const model = await world.store.read('prod/1')
  if (model?.summary === undefined) throw new Error('there is no stream to copy')
  for (const name of names) await world.store.create(name, model.body, model.summary)
}

/** The candidates at the end of a line, without their descriptions. */
async function at(line: string, setting: Setting = {}): Promise<string[]> {
  const { exit, stdout, stderr } = await cli(world, ['__complete', 'fish', '--', line], setting)
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  return stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(text => text.split('\t')[0] ?? '')
}

async function bash(line: string): Promise<string[]> {
  const { stdout } = await cli(world, ['__complete', 'bash', '--', line, BREAKS])
  return stdout.trimEnd().split('\n')
}

describe('a typed line', () => {
  test.each([
    ['leasectl show or', ['show'], 'or', 0],
    ['leasectl show ', ['show'], '', 0],
    ["leasectl show 'a b' c", ['show', 'a b'], 'c', 0],
    ['leasectl show a\\ b\'c d\'"e \\" f', ['show'], 'a bc de " f', 6],
    ["leasectl show 'a b", ['show'], 'a b', 0],
    ["leasectl -m '' show x", ['-m', '', 'show'], 'x', 0],
    ['leasectl show a:b=c', ['show'], 'a:b=c', 4],
    ['leasectl show a\\:b', ['show'], 'a:b', 0],
    ['leasectl show --status=co', ['show'], '--status=co', 9],
    ['sudo -E /usr/bin/leasectl show x', ['show'], 'x', 0],
    ['npx leasectl show x', ['show'], 'x', 0],
    ['lc show x', ['show'], 'x', 0],
    ['lc', [], 'lc', 0],
  ])('%s', (line, before, current, kept) => {
    expect(typedLine(line, 'bash', BREAKS)).toMatchObject({ before, current, kept })
  })

  test('in fish a quote may be escaped within quotes', () => {
    expect(typedLine(String.raw`leasectl show 'it\'s`, 'fish')).toMatchObject({ current: "it's" })
    expect(typedLine(String.raw`leasectl show 'it\'s`, 'bash')).toMatchObject({ current: String.raw`it\s`, quote: '' })
  })
})

describe('candidates', () => {
  test('are the words of wait --for, and no stream that looks like a flag', async () => {
    expect(await at('leasectl wait orders/4711 --for c')).toEqual(['completed', 'canceled'])
    const model = await world.store.read('prod/1')
    if (model?.summary !== undefined) await world.store.create('--help', model.body, model.summary)
    expect(await at('leasectl show ')).not.toContain('--help')
    await world.store.remove('--help', {})
  })

  test('include commands and subcommands without hidden ones', async () => {
    expect(await at('leasectl ')).toEqual(expect.arrayContaining(['ls', 'context', 'completion', 'help']))
    expect(await at('leasectl ')).not.toContain('__complete')
    expect(await at('leasectl ca')).toEqual(['cancel'])
    expect(await at('leasectl lease br')).toEqual(['break'])
    expect(await at('leasectl context ')).toEqual(expect.arrayContaining(['add', 'use', 'test']))
    expect(await at('leasectl nix ')).not.toContain('orders/4711')
  })

  test('include every command that is not hidden', async () => {
    for (const command of allCommands().filter(({ parent }) => parent !== null)) {
      const path = command.parent?.parent ? `${pathOf(command.parent)} ` : ''
      expect(await at(`leasectl ${path}`)).toContain(command.name())
    }
  })

  test('include the flags of the current command with their descriptions', async () => {
    expect(await at('leasectl ls --st')).toEqual(['--status', '--state', '--store'])
    expect(await at('leasectl ls ')).toContain('--status')
    expect(await at('leasectl show -- --')).toEqual([])
    const { stdout } = await cli(world, ['__complete', 'fish', '--', 'leasectl ls --lim'])
    expect(stdout).toMatch(/^words\n--limit\tat most N/)
  })

  test.each([
    ['leasectl ls -o nd', ['ndjson']],
    ['leasectl ls --output=nd', ['--output=ndjson']],
    ['leasectl ls --status ab', ['aborted']],
    ['leasectl ls --status aborted,c', ['aborted,completed', 'aborted,canceled']],
    ['leasectl ls --status=aborted,a', []],
    ['leasectl --color ', ['auto', 'always', 'never']],
    ['leasectl event set s 00 --on-due abort-', ['abort-event', 'abort-stream']],
    ['leasectl -q --time u', ['utc']],
    ['leasectl ls -qo na', ['name']],
    ['leasectl completion ', ['bash', 'zsh', 'fish']],
    ['leasectl help exi', ['exit-codes']],
    ['leasectl help lease ac', ['acquire']],
    ['leasectl help nix ', []],
    ['leasectl show --store ', ['sqlite:', 'azure:', 'azurite:']],
    ['leasectl ls --limit ', []],
    ['leasectl ls --group-by w', ['waiting-on']],
    ['leasectl ls --sort failedA', ['failedAt']],
    ['leasectl ls --fields name,du', ['name,due']],
    ['leasectl log --op canc', ['cancel']],
    ['leasectl cancel -m ', []],
  ])('include values: %s', async (line, wanted) => {
    expect(await at(line)).toEqual(wanted)
  })

  test('include streams with the typed prefix, except those already given', async () => {
    expect(await at('leasectl show or')).toEqual(['orders/4711', 'orders/4712'])
    expect(await at('leasectl cancel orders/4711 ')).toEqual(['orders/4712', 'prod/1'])
    expect(await at('leasectl lease show p')).toEqual(['prod/1'])
    expect(await at('leasectl cancel -m why --by me -q pr')).toEqual(['prod/1'])
    expect(await at('leasectl init or')).toEqual([])
    expect(await at('leasectl show nix')).toEqual([])
  })

  test('include ids of events of the stream named before', async () => {
    expect(await at('leasectl event start orders/4711 0')).toEqual(['00', '01.00', '02.00'])
    expect(await at('leasectl cancel orders/4711 -e 01')).toEqual(['01.00'])
    expect(await at('leasectl cancel -e ')).toEqual([])
    expect(await at('leasectl event start nix ')).toEqual([])
  })

  test('leave files to the shell', async () => {
    for (const line of ['leasectl init s --from ', 'leasectl cancel --streams ', 'leasectl show --store sqlite:']) {
      const { stdout } = await cli(world, ['__complete', 'zsh', '--', line])
      expect(stdout).toBe('files\n')
    }
  })
})

describe('contexts', () => {
  let folder = ''
  const env = () => ({ env: { XDG_CONFIG_HOME: folder } })
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'leasectl-completion-'))
    for (const name of ['dev', 'prod']) {
      await cli(newWorld(), ['context', 'add', name, '--store', `azurite:${name}`], env())
    }
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('are offered for an argument that is a context', async () => {
    for (const line of ['leasectl -c ', 'leasectl ls --context ', 'leasectl context use ', 'leasectl context rm ']) {
      expect(await at(line, env())).toEqual(['dev', 'prod'])
    }
    expect(await at('leasectl context add ', env())).toEqual([])
    expect(await at('leasectl -c p', { env: { XDG_CONFIG_HOME: '/nowhere' } })).toEqual([])
  })

  test('are offered again after a comma where several can be read', async () => {
    for (const line of ['leasectl ls -c dev,', 'leasectl check --context dev,'])
      expect(await at(line, env())).toEqual(['dev,prod'])
    expect(await at('leasectl check -c dev,prod,', env())).toEqual([])
    expect(await at('leasectl show -c dev,', env())).toEqual([])
  })
})

describe('runs', () => {
  let home = ''
  const env = () => ({ env: { XDG_STATE_HOME: home } })
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'leasectl-completion-'))
    const own = newWorld()
    for (const name of ['a', 'b']) await cli(own, ['init', name])
    await cli(own, ['cancel', '--all', '--yes'], env())
    await cli(own, ['lease', 'acquire', 'a'])
    await cli(own, ['lease', 'break', '--all', '--yes'], env())
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const CANCEL = expect.stringMatching(/^\d{8}T\d{6}Z-cancel-[0-9a-f]+\.ndjson$/)
  const BREAK = expect.stringMatching(/-lease-break-/)

  test('are offered to runs show, the latest first', async () => {
    expect(new Set(await at('leasectl runs show ', env()))).toEqual(new Set(['last', CANCEL, BREAK]))
    expect(await at('leasectl runs show la', env())).toEqual(['last'])
  })

  test('are offered to --rerun of the same command', async () => {
    expect(await at('leasectl cancel --rerun ', env())).toEqual(['last', CANCEL])
    expect(await at('leasectl lease break --rerun=', env())).toEqual(['--rerun=last', expect.stringContaining('break')])
  })

  test('leave paths, and a folder without runs, to the shell', async () => {
    const { stdout } = await cli(world, ['__complete', 'zsh', '--', 'leasectl runs show ./'], env())
    expect(stdout).toBe('files\n')
    expect((await cli(world, ['__complete', 'zsh', '--', 'leasectl rm --rerun '], env())).stdout).toBe('files\n')
  })
})

describe('the store of a completion', () => {
  async function asked(line: string, openStore?: () => Promise<never>) {
    const argv = ['__complete', 'fish', '--', line]
    const { runtime, written } = fakeRuntime(world, argv)
    const choices: [StoreChoice, OpenOptions | undefined][] = []
    const open: typeof runtime.openStore = async (choice, options) => {
      choices.push([choice, options])
      return openStore === undefined ? runtime.openStore(choice) : openStore()
    }
    const exit = await runCommandLine({ ...runtime, openStore: open, close: runtime.close })
    return { exit, choices, ...written }
  }

  test('is the one that the line selects, and no sign-in is made for it', async () => {
    expect((await asked('leasectl -c prod show ')).choices).toEqual([[{ context: 'prod' }, { signIn: false }]])
    expect((await asked('leasectl show --store=azurite:box ')).choices).toMatchObject([[{ store: 'azurite:box' }, {}]])
    expect((await asked('leasectl show --container box ')).choices).toMatchObject([[{ container: 'box' }, {}]])
    expect((await asked('leasectl sh')).choices).toEqual([])
  })

  test('gives no candidates if it cannot be opened', async () => {
    const failed = await asked('leasectl show ', () => Promise.reject(new Error('no way')))
    expect(failed).toMatchObject({ exit: 0, stdout: 'words\n', stderr: '' })
  })

  test('is not waited for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { runtime } = fakeRuntime(world, [])
      const slow = { ...runtime, openStore: () => new Promise<never>(() => {}) }
      const answer = streamNames('', { choice: {}, runtime: slow })
      vi.advanceTimersByTime(550)
      expect(await answer).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  test('gets one page; the common prefix of a page is not treated as the common prefix of all names', async () => {
    await addStreams('q/2', ...Array.from({ length: 201 }, (_, at) => `q/${1000 + at}`))
    const queries: ListQuery[] = []
    const store: StreamStore = new Proxy(world.store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (key === 'list')
          return (query: ListQuery) => {
            queries.push(query)
            return target.list(query)
          }
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const names = await at('leasectl show q/', { store })
    expect(names).toHaveLength(201)
    expect(names.at(-1)).toBe('q/2')
    expect(queries.map(({ limit }) => limit)).toEqual([200, 1])
  })
})

describe('unusual names', () => {
  beforeAll(() => addStreams("it's; $HOME `x`", 'a:b=c', 'tilde ~', 'x\u202ey', '~root', 'ü/ß', 'wow!!x'))

  test('are quoted for bash, after the part that bash leaves alone', async () => {
    expect(await bash('leasectl show it')).toEqual(['words', String.raw`it\'s\;\ \$HOME\ \`x\``])
    expect(await bash('leasectl show "it')).toEqual(['words', "it's; \\$HOME \\`x\\`"])
    expect(await bash("leasectl show 'it")).toEqual(['words'])
    expect(await bash("leasectl show 'til")).toEqual(['words', 'tilde ~'])
    expect(await bash('leasectl show a')).toEqual(['words', 'a:b=c'])
    expect(await bash('leasectl show a:')).toEqual(['words', 'b=c'])
    expect(await bash('leasectl show a:b=')).toEqual(['words', 'c'])
    expect(await bash('leasectl show a\\:')).toEqual(['words', 'a:b=c'])
    expect(await bash('leasectl show "a:')).toEqual(['words', 'a:b=c'])
    expect(await bash('leasectl show \\~')).toEqual(['words', '\\~root'])
    expect(await bash('leasectl show ü')).toEqual(['words', 'ü/ß'])
    expect(await bash('leasectl ls --status=com')).toEqual(['words', 'completed'])
  })

  test('never leave a ! to the history of bash: in double quotes it cannot be escaped', async () => {
    expect(await bash('leasectl show "wow')).toEqual(['words'])
    expect(await bash("leasectl show 'wow")).toEqual(['words', 'wow!!x'])
    expect(await bash('leasectl show wow')).toEqual(['words', String.raw`wow\!\!x`])
  })

  test('are escaped for the separator of zsh, which adds quotes itself', async () => {
    const { stdout } = await cli(world, ['__complete', 'zsh', '--', 'leasectl show a'])
    expect(stdout).toBe('words\na\\:b=c:inprocess\n')
  })

  test('are omitted if they could control a terminal or mislead a reader', async () => {
    expect(await at('leasectl show x')).toEqual([])
    const found = [{ text: 'a\u001b[31m' }, { text: 'b\nc' }, { text: 'd', what: 'e\u001b]0;x\u0007\n' }, { text: '' }]
    const text = answerText({ kind: 'words', found }, 'fish', typedLine('', 'fish'))
    expect(text).toBe('words\nd\te␛]0;x␇␊\n')
  })
})

describe('scripts', () => {
  test('SHELL is one of three shells', async () => {
    expect(await optionsFrom(register, ['completion', 'zsh'])).toEqual({ shell: 'zsh' })
    const wrong = await cli(newWorld(), ['completion', 'zhs'])
    expect(wrong).toMatchObject({ exit: 2, stdout: '' })
    expect(wrong.stderr).toContain('bash, zsh, fish')
    expect((await cli(newWorld(), ['completion'])).exit).toBe(2)
  })

  test.each(SHELLS)('the script for %s requests candidates of its own kind and names its shell', async shell => {
    const { exit, stdout } = await cli(newWorld(), ['completion', shell])
    expect(exit).toBe(0)
    expect(stdout).toContain(`__complete ${shell} -- `)
    expect(stdout).toContain('2>/dev/null')
    expect(stdout).toMatch(
      { bash: /^complete -F _leasectl leasectl$/m, zsh: /^#compdef leasectl\n/, fish: /^complete -c leasectl -f /m }[
        shell
      ],
    )
    expect(stdout).not.toContain('undefined')
  })

  test('an unknown shell gets no script', async () => {
    expect(await cli(newWorld(), ['__complete', 'tcsh', '--', 'leasectl '])).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: '',
    })
  })
})
