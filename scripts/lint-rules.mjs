// The project's own lint rules, loaded by .oxlintrc.json.

const effects = new Set(['useEffect', 'useLayoutEffect', 'useInsertionEffect']);

function isFunction(node) {
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';
}

function isEffect({ callee }) {
  const name = callee.type === 'MemberExpression' ? callee.property : callee;
  return name.type === 'Identifier' && effects.has(name.name);
}

/** The values that a function's own return statements return, without those of nested functions. */
function returnedValues(node) {
  if (node === null || typeof node !== 'object') return [];
  if (Array.isArray(node)) return node.flatMap(returnedValues);
  if (node.type === 'ReturnStatement') return node.argument === null ? [] : [node.argument];
  if (isFunction(node) || node.type === 'FunctionDeclaration' || typeof node.type !== 'string') return [];
  return Object.entries(node).flatMap(([key, child]) => (key === 'parent' ? [] : returnedValues(child)));
}

/**
 * React calls any returned value of an effect as its cleanup. `() => element.scrollIntoView()` returned undefined for years and
 * returns a promise since Chromium 140: React then called the promise, and the screen crashed. Types don't show this.
 */
const effectReturnsCleanup = {
  meta: {
    type: 'problem',
    messages: {
      inline: 'Pass an inline function, so that this rule can see what the effect returns.',
      async: 'An effect returns a cleanup function, and an async function returns a promise.',
      value: 'An effect returns nothing or an inline cleanup function. Put the call into braces, or return `() => …`.',
    },
  },
  create(context) {
    return {
      CallExpression(node) {
        if (!isEffect(node)) return;
        const [effect] = node.arguments;
        if (!isFunction(effect)) return context.report({ node: effect ?? node, messageId: 'inline' });
        if (effect.async) return context.report({ node: effect, messageId: 'async' });
        const values = effect.body.type === 'BlockStatement' ? returnedValues(effect.body.body) : [effect.body];
        for (const value of values) if (!isFunction(value)) context.report({ node: value, messageId: 'value' });
      },
    };
  },
};

/** Without a reason on its line, a reader can't tell whether a suppression is still needed. */
const suppressionHasReason = {
  meta: {
    type: 'problem',
    messages: { reason: 'Give the reason after the rule: `oxlint-disable-next-line rule -- reason`.' },
  },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (/^\s*(?:oxlint|eslint)-disable/.test(comment.value) && !/ -- \S/.test(comment.value))
            context.report({ node: comment, messageId: 'reason' });
        }
      },
    };
  },
};

const lookups = new Set(['closest', 'getElementsByClassName', 'matches', 'querySelector', 'querySelectorAll']);

/** Class names belong to the style sheets. A lookup by class breaks without an error when one is renamed. */
const noClassLookup = {
  meta: {
    type: 'problem',
    messages: { class: 'Use a ref. Class names belong to the style sheets.' },
  },
  create(context) {
    return {
      CallExpression({ callee, arguments: [selector] }) {
        if (callee.type !== 'MemberExpression' || !lookups.has(callee.property.name)) return;
        const text =
          selector?.type === 'TemplateLiteral'
            ? selector.quasis.map(({ value }) => value.raw).join('')
            : selector?.value;
        if (callee.property.name === 'getElementsByClassName' || /\.[a-zA-Z_]/.test(text ?? ''))
          context.report({ node: callee, messageId: 'class' });
      },
    };
  },
};

/** Vitest gives up after a second, which a busy machine needs for one request. Its configuration has no such time for all of them. */
const waitHasTimeout = {
  meta: {
    type: 'problem',
    messages: { timeout: 'Pass `patience`: without it the wait ends after a second.' },
  },
  create(context) {
    return {
      CallExpression(node) {
        const { callee, arguments: parameters } = node;
        const isWait = callee.object?.name === 'vi' && /^wait(?:For|Until)$/.test(callee.property.name);
        if (isWait && parameters.length < 2) context.report({ node, messageId: 'timeout' });
      },
    };
  },
};

export default {
  meta: { name: 'touchstone' },
  rules: {
    'effect-returns-cleanup': effectReturnsCleanup,
    'no-class-lookup': noClassLookup,
    'suppression-has-reason': suppressionHasReason,
    'wait-has-timeout': waitHasTimeout,
  },
};
