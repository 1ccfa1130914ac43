"""Capture: plan, transport, retries, runner, record log, manifest. The only room that touches the world.

It writes down what happened and decides nothing about it.
"""
