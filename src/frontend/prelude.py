# What a retry library does with the function that it is given, in terms of the pieces of its policy.


def drive(call, policy, *args):
    attempt = 0
    begun = policy.begun()
    while True:
        attempt = attempt + 1
        error = None
        result = None
        try:
            result = call(*args)
        except BaseException as caught:
            if not policy.failed(caught, attempt):
                raise
            error = caught
        else:
            if not policy.unwanted(result, attempt):
                return result
        if policy.over(attempt, begun, error):
            return policy.leave(attempt, error, result)
        policy.tell(attempt, error, result)
        policy.rest(policy.pause(attempt, error, result))


async def drive_async(call, policy, *args):
    attempt = 0
    begun = policy.begun()
    while True:
        attempt = attempt + 1
        error = None
        result = None
        try:
            result = await call(*args)
        except BaseException as caught:
            if not policy.failed(caught, attempt):
                raise
            error = caught
        else:
            if not policy.unwanted(result, attempt):
                return result
        if policy.over(attempt, begun, error):
            return policy.leave(attempt, error, result)
        await policy.tell(attempt, error, result)
        policy.rest(policy.pause(attempt, error, result))


# The same where a failure is a value.
def drive_result(call, policy, *args):
    attempt = 0
    begun = policy.begun()
    while True:
        attempt = attempt + 1
        result = call(*args)
        if policy.succeeded(result):
            return result
        error = policy.failure(result)
        if not policy.failed(error, attempt):
            return result
        if policy.over(attempt, begun, error):
            return result
        policy.tell(attempt, error, result)
        policy.rest(policy.pause(attempt, error, result))


async def drive_result_async(call, policy, *args):
    attempt = 0
    begun = policy.begun()
    while True:
        attempt = attempt + 1
        result = await call(*args)
        if policy.succeeded(result):
            return result
        error = policy.failure(result)
        if not policy.failed(error, attempt):
            return result
        if policy.over(attempt, begun, error):
            return result
        await policy.tell(attempt, error, result)
        policy.rest(policy.pause(attempt, error, result))


# A client whose policy of the project's own is asked after each answer: what it gives is awaited before the request is
# sent again, and may bring the policy that is asked next.
async def drive_judged(call, judge, policy, request):
    while True:
        result = await call(request)
        again = policy.judge(judge, request, result)
        if not policy.succeeded(again):
            return result
        policy = policy.next(again, await policy.pending(again))


# A function that stands in a decorator of the project's own.
def decorate(make, call, given, *args):
    return make()(call)(*given, *args)


async def decorate_async(make, call, given, *args):
    return await make()(call)(*given, *args)


# The end of `with attempt:` by an exception: whether the loop goes on.
def leave_attempt(policy, attempt, begun, error):
    if not policy.failed(error, attempt):
        return False
    if policy.over(attempt, begun, error):
        return False
    policy.tell(attempt, error, None)
    policy.rest(policy.pause(attempt, error, None))
    return True


# What is called between a failed attempt and the next one.
def tell_each(hooks, failure):
    for hook in hooks:
        hook(failure)


def any_failed(conditions, error, attempt):
    for condition in conditions:
        if condition.failed(error, attempt):
            return True
    return False


def all_failed(conditions, error, attempt):
    for condition in conditions:
        if not condition.failed(error, attempt):
            return False
    return True


def any_unwanted(conditions, result, attempt):
    for condition in conditions:
        if condition.unwanted(result, attempt):
            return True
    return False


def all_unwanted(conditions, result, attempt):
    for condition in conditions:
        if not condition.unwanted(result, attempt):
            return False
    return True


def not_failed(condition, error, attempt):
    if condition.failed(error, attempt):
        return False
    return True


def not_unwanted(condition, result, attempt):
    if condition.unwanted(result, attempt):
        return False
    return True


def failed_unless(condition, unless, error, attempt):
    if not condition.failed(error, attempt):
        return False
    if unless.failed(error, attempt):
        return False
    return True
