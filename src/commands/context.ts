import { type Command, Option } from 'commander'
import { act, describe, describeGroup, parsed, type Run, reads } from '../cli/command.ts'
import { type GlobalOptions, optionsOf } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, contextName, nonEmpty } from '../cli/values.ts'
import { nearest } from '../util/strings.ts'
import type { AddContextOptions, ContextOptions, RemoveContextOptions, UseContextOptions } from './context/run.ts'
import type { TestContextOptions } from './context/test.ts'

/** `context …`: stores under names. Alone it shows the current one. */
export function register(parent: Command, runtime: Runtime, go: Run<ContextOptions> = run): void {
  const group = parent.command('context').usage('[COMMAND | -]')
  group.argument('[-]', 'back to the context before', text => onlyBack(text, group))
  describeGroup(group, runtime, {
    summary: 'names for stores: add, list, use, remove, test',
    description: 'Names for stores. Alone it shows the current one. Touches a list of your own, never a stream.',
    examples: [
      ['context add prod --store azure:orders4711/events --protected', 'a name for a store'],
      ['context use prod', 'the store of the commands to come'],
      ['context -', 'back to the one before'],
      ['ls -c prod', 'for one command'],
    ],
  })
  act(group, runtime, 'reads', parse, go)
  for (const registerIn of [registerAdd, registerList, registerUse, registerRemove, registerTest])
    registerIn(group, runtime)
}

function parse(command: Command): ContextOptions {
  const options: GlobalOptions = optionsOf(command)
  if (options.output !== undefined) choice('-o', ['text', 'json'])(options.output)
  return { ...options, back: command.args.length > 0 }
}

/** What is no command ends up as an argument here. */
function onlyBack(text: string, group: Command): string {
  if (text === '-') return text
  const words = group.commands.flatMap(command => [command.name(), ...command.aliases()])
  const near = nearest(text, words)
  throw new UsageError(`unknown command '${text}'`, {
    hint: near === undefined ? `One of ${words.join(', ')}.` : `Did you mean ${near}?`,
  })
}

const run: Run<ContextOptions> = async (options, runtime) => {
  if (options.back) {
    runtime.begin('writes')
    const { useContext } = await import('./context/run.ts')
    return useContext({ ...options, name: '-' }, runtime)
  }
  const { showContext } = await import('./context/run.ts')
  return showContext(options, runtime)
}

export function registerAdd(parent: Command, runtime: Runtime, go: Run<AddContextOptions> = runAdd): void {
  const command = parent
    .command('add')
    .argument('<NAME>', 'name of the context', contextName('NAME'))
    .option(
      '--protected',
      'cancel, abort, retry, rm and what writes over streams ask there, whichever way the store is named',
    )
    .addOption(
      new Option(
        '--credential-file <file>',
        'key, SAS or sign-in of this store: a file that only you may read',
      ).argParser(nonEmpty('--credential-file')),
    )
    .option('--use', 'makes it the current one too')
    .option('--replace', 'replaces the context of this name')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts, no stream.',
    summary: 'gives the store of --store a name',
    examples: [
      ['context add dev --store azurite:orders --use', 'and makes it the current one'],
      ['context add prod --store azure:orders4711/events --protected', 'cancel and the like ask there first'],
      ['context add prod --store azure:orders4711/events --credential-file ~/.leasectl-prod', 'with a key of its own'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runAdd: Run<AddContextOptions> = async (...given) => (await import('./context/run.ts')).addContext(...given)

function registerList(parent: Command, runtime: Runtime, go: Run<GlobalOptions> = runList): void {
  const command = parent.command('list').alias('ls')
  const description = {
    summary: 'lists the contexts; * marks the current one',
    examples: [
      ['context list', 'names, addresses, which are protected'],
      ['context list -o json', 'for scripts'],
    ],
    formats: ['table', 'json', 'name'],
    effect: 'Only reads: your list of contexts, no store.',
  } as const
  reads(command, runtime, description, [], go)
}

const runList: Run<GlobalOptions> = async (...given) => (await import('./context/run.ts')).listContexts(...given)

function registerRemove(parent: Command, runtime: Runtime, go: Run<RemoveContextOptions> = runRemove): void {
  const command = parent
    .command('remove')
    .alias('rm')
    .argument('<CONTEXT>', 'name of the context', contextName('CONTEXT'))
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts. The store and its streams stay as they are.',
    summary: 'forgets a context',
    examples: [['context remove dev', 'the name, not the store']],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runRemove: Run<RemoveContextOptions> = async (...given) =>
  (await import('./context/run.ts')).removeContext(...given)

function registerTest(parent: Command, runtime: Runtime, go: Run<TestContextOptions> = runTest): void {
  const command = parent
    .command('test')
    .argument('[CONTEXT]', 'name of the context (default: the store meant)', contextName('CONTEXT'))
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: a probe of its own below .leasectl/, which it removes again.',
    summary: 'tries a store: lists, reads, creates, leases, writes, removes',
    examples: [
      ['context test prod', 'step by step, with the time each took'],
      ['context test', 'the store meant'],
    ],
    formats: ['table', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runTest: Run<TestContextOptions> = async (...given) => (await import('./context/test.ts')).testContext(...given)

export function registerUse(parent: Command, runtime: Runtime, go: Run<UseContextOptions> = runUse): void {
  const command = parent
    .command('use')
    .argument('[CONTEXT]', 'name of the context; - is the one before', nameOrBack)
    .option('--none', 'no context: the store of the environment, else the embedded one')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: which context is current, no stream.',
    summary: 'makes a context the current one: its store is meant where none is named',
    examples: [
      ['context use prod', 'from now on, in every terminal'],
      ['context use -', 'back to the one before'],
      ['context use --none', 'none is current'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', parseUse, go)
}

const nameOrBack = (text: string) => (text === '-' ? text : contextName('CONTEXT')(text))

function parseUse(command: Command): UseContextOptions {
  const options = parsed<UseContextOptions & { readonly none?: boolean }>(command, ['name'])
  if ((options.name === undefined) === (options.none === true)) return options
  throw new UsageError(options.none ? 'CONTEXT and --none exclude each other' : 'which context?', {
    hint: `${options.none ? 'Use one of them' : 'Name it, or use - for the one before'}; context list shows them.`,
  })
}

const runUse: Run<UseContextOptions> = async (...given) => (await import('./context/run.ts')).useContext(...given)
