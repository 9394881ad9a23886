import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UsageError } from '../../../../src/cli/problem.ts'
import { hookTargets } from '../../../../src/commands/watchdog/hook-targets.ts'
import { type HookSetting, hookCommand } from '../../../../src/commands/watchdog/values.ts'

const SECRET = 'canary-canary-canary-canary'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-targets-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, mode = 0o755): string {
  const path = join(folder, name)
  writeFileSync(path, '#!/bin/sh\n', { mode })
  return path
}

const resolve = async (text: string, env = {}) =>
  (await hookTargets({ onDone: hookCommand('--on-done')(text) }, env)).hooks

async function faultOf(settings: HookSetting[], env = {}): Promise<UsageError> {
  const error = await hookTargets({ onFailed: settings }, env).catch((caught: unknown) => caught)
  if (!(error instanceof UsageError)) throw new Error('it was taken', { cause: error })
  return error
}

function webhook(about: object): HookSetting {
  return { kind: 'webhook', where: 'w.yaml, line 2: webhook', url: 'https://h.example/canary', ...about } as HookSetting
}

describe('a program', () => {
  test('is one path, which may contain blanks', async () => {
    const path = program('my page')
    expect(await resolve(path)).toEqual({
      expired: [],
      done: [{ kind: 'command', argv: [path], timeoutMs: 30_000, tries: 8 }],
      failed: [],
      compensated: [],
      'compensation-failed': [],
    })
  })

  test('without a slash is searched up on PATH, where it must be executable', async () => {
    mkdirSync(join(folder, 'other'))
    program('page', 0o644)
    const path = program('other/page')
    const hooks = await resolve('["page","--now"]', { PATH: `relative:${folder}:${join(folder, 'other')}` })
    expect(hooks?.done).toMatchObject([{ argv: [path, '--now'] }])
  })

  test('from a file is relative to its folder', async () => {
    const path = program('page')
    const { hooks } = await hookTargets({ onDone: [{ kind: 'command', where: 'x', argv: ['./page'], folder }] }, {})
    expect(hooks?.done).toMatchObject([{ argv: [path] }])
  })

  test.each([
    ['none', 'no such program', 'Write its full path.'],
    ['none --now', 'no such program', 'A path may contain spaces'],
    ['plain', 'it cannot be executed', 'Write its full path.'],
    ['', 'it is not a file', 'Write its full path.'],
  ])('%j: %s', async (name, what, hint) => {
    program('plain', 0o644)
    const error = await faultOf([...hookCommand('--on-failed')(`${folder}/${name}`)])
    expect(error.message).toMatch(/^--on-failed: /)
    expect(error.message).toContain(what)
    expect(error.hint).toContain(hint)
  })

  test('that is not on PATH is refused', async () => {
    const error = await faultOf([...hookCommand('--on-failed')('page')], { PATH: folder })
    expect(error.hint).toContain('looked up on PATH')
  })
})

describe('a secret', () => {
  test('comes from a file or a variable, and is never shown', async () => {
    const path = join(folder, 'secret')
    writeFileSync(path, `${SECRET}\n`, { mode: 0o600 })
    const settings = [webhook({ secret: { file: 'secret' }, folder }), webhook({ secret: { env: 'HOOK_SECRET' } })]
    const { hooks, warnings } = await hookTargets({ onFailed: settings }, { HOOK_SECRET: SECRET })
    const signatures = hooks?.failed?.map(target => target.kind === 'webhook' && target.secret?.sign('a', 1, 'b'))
    expect(signatures?.[0]).toMatch(/^v1,/)
    expect(signatures?.[1]).toBe(signatures?.[0])
    expect(warnings).toEqual([])
    expect(inspect(hooks, { depth: 9, showHidden: true }).replaceAll('/canary', '')).not.toContain('canary')
  })

  test('that other users may read causes a warning', async () => {
    const path = join(folder, 'secret')
    writeFileSync(path, SECRET)
    chmodSync(path, 0o644)
    const { warnings } = await hookTargets({ onDone: [webhook({ secret: { file: path } })] }, {})
    expect(warnings).toEqual([expect.stringContaining('is world-readable')])
  })

  test.each([
    [{ env: 'NONE' }, 'NONE is not set'],
    [{ env: 'EMPTY' }, 'it is empty'],
    [{ env: 'SHORT' }, 'too short'],
    [{ file: '/nowhere/secret' }, 'cannot be read (ENOENT)'],
    [{ file: '/dev/zero' }, 'is not a file'],
    [{ file: '/tmp' }, 'is not a file'],
  ])('%j: %s', async (secret, what) => {
    const { message } = await faultOf([webhook({ secret })], { EMPTY: '', SHORT: 'canary' })
    expect(message).toMatch(/^w\.yaml, line 2: webhook: /)
    expect(message).toContain(what)
    expect(message).not.toContain('canary')
  })
})

test('no targets follow from no settings', async () => {
  expect(await hookTargets({}, {})).toEqual({ hooks: undefined, warnings: [] })
})
