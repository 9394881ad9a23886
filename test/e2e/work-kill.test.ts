import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { newUser, type User } from './program.ts'

const PLACES: readonly (readonly [string, (user: User) => Promise<StreamStore>])[] = [
  ['SQLite', user => openStore(`sqlite:${join(user.home, 'a.db')}`, {})],
  ['Azurite', async () => openAzuriteStore((await sharedAzurite()).port)],
]

/** Kills the process that loads it where it would start this command for the second time. */
const KILL_AT_SECOND_START = `
const children = require('node:child_process')
const { spawn } = children
let starts = 0
children.spawn = (file, ...more) => {
  if (file === './command' && ++starts === 2) process.kill(process.pid, 'SIGKILL')
  return spawn(file, ...more)
}
require('node:module').syncBuiltinESMExports()
`

/** A single executable takes no module from NODE_OPTIONS. */
const isNode = process.env.LEASECTL_TEST_EXECUTABLE === undefined

test.runIf(isNode).concurrent.for(PLACES)(
  'a worker killed after it wrote an end with the next claim has ended the event once, and the next is taken over once: %s',
  { timeout: 120_000 },
  async ([, open], { onTestFinished }) => {
    const user = await newUser()
    onTestFinished(() => user.leave())
    const store = await open(user)
    onTestFinished(() => store.close())
    const env = { LEASECTL_STORE: store.address }
    expect(await user.run(['init', 's', '-q', '--fork', 'A,A'], env)).toMatchObject({ code: 0, stderr: '' })
    const script = '#!/bin/sh\necho "$LEASECTL_EVENT $LEASECTL_ATTEMPT" >> ran\n'
    writeFileSync(join(user.home, 'command'), script, { mode: 0o755 })
    writeFileSync(join(user.home, 'kill.cjs'), KILL_AT_SECOND_START)
    const work = (owner: string, claim: string, more: Record<string, string> = {}) => {
      const flags = ['--name', 'A', '--owner', owner, '--claim', claim, '--max-idle', '200ms']
      return user.start(['work', ...flags, '--', './command'], { ...env, ...more })
    }
    const doomed = work('doomed', '10s', { NODE_OPTIONS: `--require ${join(user.home, 'kill.cjs')}` })
    expect(await doomed.ended).toMatchObject({ signal: 'SIGKILL' })
    const dead = await eventsOf(store)
    expect(dead.map(([, ...seen]) => seen)).toEqual([
      ['completed', 'doomed', '1'],
      ['inprocess', 'doomed', '1'],
    ])

    const heir = work('heir', '1m')
    await heir.until('stderr', /^completed /m)
    heir.process.kill('SIGTERM')
    expect(await heir.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('1 done') })
    const [[first = ''] = [], [second = ''] = []] = dead
    expect((await eventsOf(store)).toSorted()).toEqual(
      [
        [first, 'completed', 'doomed', '1'],
        [second, 'completed', 'heir', '2'],
      ].toSorted(),
    )
    expect(readFileSync(join(user.home, 'ran'), 'utf8')).toBe(`${first} 1\n${second} 2\n`)
    const ends = (await readStream(store, 's'))?.transactions().filter(({ op }) => op === 'complete') ?? []
    expect(ends.map(({ on }) => on)).toEqual([first, second])
  },
)

/** The events with their owner and attempt, those that have ended first. */
async function eventsOf(store: StreamStore): Promise<(string | undefined)[][]> {
  const events = (await readStream(store, 's'))?.document.events.slice(1) ?? []
  const seen = events.map(({ id, status, lc }) => [id, status, lc.owner, lc.attempt])
  return seen.toSorted(([, one = ''], [, other = '']) => (one < other ? -1 : 1))
}
