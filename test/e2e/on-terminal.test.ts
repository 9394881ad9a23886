import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUser, type Running, type User } from './program.ts'

let user: User
let store: string

beforeAll(async () => {
  user = await newUser()
  store = `sqlite:${join(user.home, 'a.db')}`
  for (const name of ['a', 'b']) expect(await user.run(['init', name, '--store', store])).toMatchObject({ code: 0 })
})

afterAll(() => user.leave())

/** On a terminal; `stty -g` before and after shows whether it was restored. */
function onTerminal(command: string): Running {
  const script = `trap : INT; stty cols 90 rows 12; stty -g; ${command}; code=$?; stty -g; exit $code`
  return user.shell(`exec script -qec '${script}' /dev/null`)
}

test('ls -w redraws changes in place; Ctrl-C ends it with 130, and the terminal is restored', async () => {
  const watch = onTerminal(`leasectl ls -w --interval 20ms --store ${store}`)
  await watch.until('stdout', /2 streams[\s\S]*a +\S*▶ inprocess/)
  expect(await user.run(['abort', 'a', '--store', store])).toMatchObject({ code: 0 })
  await watch.until('stdout', /a +\S*✗ aborted/)
  watch.process.stdin?.write('\u0003')
  const { code, stdout } = await watch.ended
  expect(code).toBe(130)
  const settings = stdout.match(/[0-9a-f]+(:[0-9a-f]+){10,}/g) ?? []
  expect(settings).toHaveLength(2)
  expect(settings[1]).toBe(settings[0])
  expect(stdout.lastIndexOf('\u001b[?25h')).toBeGreaterThan(stdout.lastIndexOf('\u001b[?25l'))
})

test('at the prompt of lease break Ctrl-C, Esc and the end of input mean no, on a real terminal', async () => {
  expect(await user.run(['lease', 'acquire', 'b', '--duration', 'infinite', '--store', store])).toMatchObject({
    code: 0,
  })
  const answered = async (key: string) => {
    const asked = onTerminal(`leasectl lease break b --store ${store}`)
    await asked.until('stdout', /Type b to continue: /)
    asked.process.stdin?.write(key)
    const { code, stdout } = await asked.ended
    expect({ key, code }).toEqual({ key, code: 2 })
    expect(stdout).toContain('[declined]')
  }
  await Promise.all(['\u0003', '\u001b', '\u0004', 'B\r', '\r'].map(answered))
  expect((await user.run(['lease', 'show', 'b', '--store', store])).stdout).toMatch(/^b {2}leased \(infinite\)/)
})

test('SIGTERM at a prompt ends the command with 143, and nothing is changed', async () => {
  expect(await user.run(['init', 'c', '--store', store])).toMatchObject({ code: 0 })
  const asked = onTerminal(`leasectl cancel --match c --store ${store}`)
  await asked.until('stdout', /Continue\? \[y\/N\] /)
  for (const pid of user.processesWith(`${user.bin} cancel --match c`)) process.kill(pid, 'SIGTERM')
  const { code, stdout } = await asked.ended
  expect({ code, stdout }).toMatchObject({
    code: 143,
    stdout: expect.stringMatching(/terminated; nothing was changed/),
  })
  expect((await user.run(['show', 'c', '--store', store])).stdout).toContain('inprocess')
})

test('a list on standard input is confirmed at the terminal of the process', async () => {
  for (const name of ['p', 'q']) expect(await user.run(['init', name, '--store', store])).toMatchObject({ code: 0 })
  const asked = async (key: string) => {
    const cancel = onTerminal(`printf "p\\nq\\n" | leasectl cancel --streams - --store ${store}`)
    await cancel.until('stdout', /This cancels 2 streams in sqlite:.*\. Continue\? \[y\/N\] /)
    cancel.process.stdin?.write(key)
    return cancel.ended
  }
  expect(await asked('\u001b')).toMatchObject({ code: 2, stdout: expect.stringContaining('[declined]') })
  expect(await asked('y\r')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 done') })
})
