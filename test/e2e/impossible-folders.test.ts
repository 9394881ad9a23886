import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUser, type User } from './program.ts'

let user: User
let store: readonly string[]

beforeAll(async () => {
  user = await newUser()
  store = ['--store', `sqlite:${join(user.home, 'a.db')}`]
  for (const name of ['a', 'b']) await user.run(['init', name, ...store])
})
afterAll(() => user.leave())

// Node's recursive mkdir never ends there, and blocks signals too.
test.runIf(existsSync('/proc/self')).each([
  ['export --all --to /proc/x', {}],
  ['export --all --to /proc/x/y/z', {}],
  ['cancel --all --yes', { XDG_STATE_HOME: '/proc/nope' }],
  ['context add prod --store sqlite:x.db', { XDG_CONFIG_HOME: '/proc/nope' }],
])('%s ends with an error if /proc would need a new folder', async (line, env) => {
  const { code, stderr } = await user.run([...line.split(' '), ...(line.startsWith('context') ? [] : store)], env)
  expect(stderr).toContain('/proc/')
  expect([2, 9]).toContain(code)
})

test.runIf(existsSync('/proc/self'))('an embedded store below /proc is an error', async () => {
  const { code, stderr } = await user.run(['init', 'a'], { XDG_DATA_HOME: '/proc/nope' })
  expect(stderr).toContain('/proc/nope')
  expect(code).not.toBe(0)
})

test.runIf(existsSync('/proc/self'))('a cache folder below /proc only makes the start slower', async () => {
  expect(await user.run(['ls', ...store], { XDG_CACHE_HOME: '/proc/nope' })).toMatchObject({ code: 0 })
})
