import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUser, type User } from './program.ts'

/** The script for bash in a real bash. */

const hasBash = spawnSync('bash', ['--version']).status === 0

let user: User
beforeAll(async () => {
  user = await newUser()
  const names = "'orders/4711' 'orders/it is; odd' 'a:b=c'"
  const init = `for name in ${names}; do leasectl init "$name" -q || exit; done; leasectl completion bash > script`
  expect(await user.shell(init).ended).toMatchObject({ code: 0, stderr: '' })
})
afterAll(() => user.leave())

/** The words that bash would insert for a line, with the usual word breaks. */
async function completed(line: string): Promise<string[]> {
  const call = `. ./script; COMP_LINE="$LINE"; COMP_POINT=\${#LINE}; _leasectl leasectl; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { code, stdout, stderr } = await user.shell(call, { LINE: line }).ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trimEnd().split('\n')
}

test.runIf(hasBash)('bash completes commands, names, ids and values', async () => {
  expect(await completed('leasectl contex')).toEqual(['context'])
  expect(await completed('leasectl show ord')).toEqual(['orders/4711', 'orders/it\\ is\\;\\ odd'])
  expect(await completed('leasectl show a:')).toEqual(['b=c'])
  expect(await completed('leasectl event start orders/4711 ')).toEqual(['00'])
  expect(await completed('leasectl ls --status=inp')).toEqual(['inprocess'])
  expect(await completed('leasectl init --from ')).toEqual([''])
  expect(await completed('leasectl show ord --store sqlite:/nowhere/a.db ')).toEqual([''])
})

test.runIf(hasBash)('the script passes bash -n, and it registers itself', async () => {
  const { code, stdout } = await user.shell('bash -n script && . ./script && complete -p leasectl').ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'complete -F _leasectl leasectl\n' })
})

test.each(['zsh', 'fish'])('the script for %s parses, if that shell is installed', async shell => {
  if (spawnSync(shell, ['--version']).status !== 0) return
  expect(await user.shell(`leasectl completion ${shell} > it; ${shell} -n it`).ended).toMatchObject({
    code: 0,
    stderr: '',
  })
})
